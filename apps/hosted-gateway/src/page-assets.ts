/** A script or style that is inlined in pages. */
export interface PageAsset {
  content: string;
  /** Hash for the page's content security policy: `sha384-…`. */
  integrity: string;
}
