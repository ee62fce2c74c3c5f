/**
 * The browser data of 3-D Secure 2 (browserAcceptHeader, browserUserAgent and so on). A field that the browser did not
 * send, or sent with an invalid value, is absent. An acquirer that needs an absent field requires a verification of the
 * payer, or ignores it.
 */
export interface BrowserData {
  acceptHeader?: string;
  userAgent?: string;
  /** BCP 47, such as `en-ZA`. */
  language?: string;
  /** CSS pixels. */
  screenWidth?: number;
  screenHeight?: number;
  /** Bits per pixel. */
  colorDepth?: number;
  /** UTC minus local time: −120 in Johannesburg. */
  timeZoneOffsetMinutes?: number;
  javaScriptEnabled?: boolean;
}

/**
 * Data about the payer, for the issuer's fraud check. It is personal data: services send it with the charge, and never
 * store or log it.
 */
export interface PayerContext {
  /** IP address, IPv4 or IPv6. */
  address?: string;
  browser?: BrowserData;
  /** Not used yet: neither the payment page nor the partner API requests it. */
  email?: string;
}
