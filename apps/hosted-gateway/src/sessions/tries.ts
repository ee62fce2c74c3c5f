/** Failed payments after which a session is refused (H2). */
export const SESSION_TRIES_MAX = 5;
