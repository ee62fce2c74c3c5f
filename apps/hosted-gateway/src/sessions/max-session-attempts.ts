/** Number of failed payments after which a session is refused (H2). */
export const MAX_SESSION_ATTEMPTS = 5;
