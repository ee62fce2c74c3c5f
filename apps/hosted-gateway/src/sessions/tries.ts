/** Failed payments after which a session is refused (H2). In a file of its own, which the page's script imports too. */
export const SESSION_TRIES_MAX = 5;
