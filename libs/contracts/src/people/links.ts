// Paths of the console that a link with a one-time token opens. identity creates the links, the console serves them.

/** Path before the token of an invitation. */
export const INVITATION_PATH = '/invitations/';
/** Path before the token of a sign-in link, which exists in development only. */
export const SIGN_IN_LINK_PATH = '/sign-in/links/';
