module example.org/arpeggio/hack/kube-cluster/pod

go 1.21
