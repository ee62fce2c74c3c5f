/**
 * What a browser says of itself, under the meaning that 3-D Secure 2 gives it (browserAcceptHeader, browserUserAgent and so on).
 * A field that was not given, or made no sense, is absent: an acquirer that needs it asks for the payer's verification or does without.
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
 * Who pays, for the issuer to judge whether it is the cardholder. Personal: it travels with the charge, in memory alone, and is neither
 * stored nor logged.
 */
export interface PayerContext {
  /** IP address, IPv4 or IPv6. */
  address?: string;
  browser?: BrowserData;
  /** Given by no caller so far: neither the payment page nor the partner API asks a payer for it. */
  email?: string;
}
