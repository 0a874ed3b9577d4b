/** The group and version of every resource that we share with MetalLB. */
export const CRD_GROUP = "metallb.io";
export const CRD_VERSION = "v1beta1";
