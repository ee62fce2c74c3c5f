import type { PageAsset } from '../../page-assets.js';

/** The look of a merchant, as the payment page and the receipt show it. Absent members have the look of the platform. */
export interface PageLook {
  /** Replaces the name of the merchant. */
  readonly displayName?: string | undefined;
  readonly logo?: PageLogo | undefined;
  /** The style of the accent colour, beside the style of all pages. */
  readonly style?: PageAsset | undefined;
  /** `#rrggbb`, with the colour of a text on it. */
  readonly accent?: { readonly background: string; readonly text: string } | undefined;
  readonly supportEmail?: string | undefined;
  readonly supportPhone?: string | undefined;
  /** HTTPS. */
  readonly supportUrl?: string | undefined;
  /** HTTPS. */
  readonly termsUrl?: string | undefined;
}

export interface PageLogo {
  /** Path on the gateway. */
  readonly path: string;
  /** Size on the page in CSS pixels, known before the image is loaded, so that nothing moves. */
  readonly width: number;
  readonly height: number;
}
