/**
 * The browser data of 3-D Secure 2 (browserAcceptHeader, browserUserAgent and so on). A missing or invalid field is absent: an
 * acquirer that needs it requires the payer's verification or continues without it.
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
 * Data about the payer, for the issuer's fraud check. Personal data: it is sent with the charge and kept only in memory, never
 * stored or logged.
 */
export interface PayerContext {
  /** IP address, IPv4 or IPv6. */
  address?: string;
  browser?: BrowserData;
  /** Not used yet: neither the payment page nor the partner API requests it. */
  email?: string;
}
