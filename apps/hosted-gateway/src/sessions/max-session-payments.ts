/** Number of failed payments after which the state of a session is `refused` (H2). */
export const MAX_SESSION_PAYMENTS = 5;
