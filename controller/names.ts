/** Objects of the controller's namespace that it shares with its like, by name. */

export const LEASE = "arpeggio-controller";
export const RESERVATIONS = "arpeggio-reservations";
/** ConfigurationState, as MetalLB's controller calls its own. */
export const CONTROLLER_STATE = "controller";
