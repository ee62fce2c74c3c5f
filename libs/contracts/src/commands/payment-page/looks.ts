import { commandType } from '../../events/envelope.js';

/*
 * The commands below go from the console to hosted-gateway, while a person waits for a page. hosted-gateway owns the looks
 * of merchants and renders payment pages. The console has checked the role of the person.
 */

/** Largest file of a logo, in bytes. */
export const MAX_LOGO_BYTES = 256 * 1024;

/** The settings of a look. A setting that is absent is that of the platform. */
export interface LookFields {
  /** `#rrggbb`. */
  accentColour?: string;
  /** Shown instead of the merchant's name. */
  displayName?: string;
  supportEmail?: string;
  supportPhone?: string;
  /** HTTPS. */
  supportUrl?: string;
  /** HTTPS. */
  termsUrl?: string;
}

/** A file that a person has chosen. */
export interface LogoUpload {
  type: 'image/png' | 'image/jpeg' | 'image/webp';
  /** The file in base64, at most 256 KiB before the encoding. */
  base64: string;
}

/** A look that replaces the stored one completely, except for the logo. */
export interface LookDraft {
  settings: LookFields;
  /** Absent: the stored logo stays, unless `removesLogo`. */
  logo?: LogoUpload;
  removesLogo: boolean;
}

/** The colours that the page derives from the accent colour, so that each text has a contrast of at least 4.5:1. */
export interface LookColours {
  /** `#rrggbb` of the text on the button: black or white. */
  buttonText: string;
  /** `#rrggbb` of links in light colours: the accent colour, or a darker one. */
  linksOnLight: string;
  /** `#rrggbb` of links in dark colours: the accent colour, or a lighter one. */
  linksOnDark: string;
}

/** A complete document without a script. */
export interface StaticPage {
  html: string;
  /** The hashes of its styles for a content security policy: `sha384-…`. */
  styles: string[];
}

export interface LookPreview {
  settings: LookFields;
  /** Grows with each change of the stored look; 0 before the first change. */
  version: number;
  /** The logo as hosted-gateway stores it: PNG of at most 480 x 160 pixels, in base64. Absent if there is none. */
  logo?: string;
  /** Absent without an accent colour. */
  colours?: LookColours;
  /** The payment page of an invented order, with this look. It has no session, so that it cannot be paid. */
  page: StaticPage;
}

export interface PreviewLook {
  merchantId: number;
  /** Name of the merchant, shown unless the look has another one. */
  merchantName: string;
  /** BCP 47 tag of the page. */
  language: string;
  /** Absent: the stored look. */
  draft?: LookDraft;
}

/**
 * Shows a look on a payment page, and stores nothing. Refused with `request.invalid` for an invalid setting, and with
 * `look.logo-unusable`.
 */
export const PreviewLookV1 = commandType<PreviewLook, LookPreview>('preview-look.v1');

export interface SetLook extends LookDraft {
  merchantId: number;
  /** The version that the person saw. */
  version: number;
  /** @schema uuid */
  personId: string;
  /** `x-request-id` of the console's response, for the audit log (C8). */
  requestId: string;
}

/**
 * Replaces the look of a merchant. A repeat changes nothing. Refused with `resource.not-found` for an unknown merchant,
 * with `resource.conflict` if the look has another version and is not already so, and as {@link PreviewLookV1}.
 */
export const SetLookV1 = commandType<SetLook, { version: number }>('set-look.v1');
