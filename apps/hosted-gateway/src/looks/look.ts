/**
 * The look of a merchant: its colour, logo, name and contact on the payment pages of all its sites, in both modes, and
 * on e-mailed receipts. An administrator or an owner of the merchant sets it. A payer sees a change after some seconds.
 */

export interface LookSettings {
  /** Shown instead of the merchant's name. */
  readonly displayName: string | null;
  /** `#rrggbb` in lower case. */
  readonly accentColour: string | null;
  readonly supportEmail: string | null;
  readonly supportPhone: string | null;
  readonly supportUrl: string | null;
  readonly termsUrl: string | null;
}

/** A logo that is stored. Its hash is a part of its address, so the image at an address never changes. */
export interface Logo {
  /** The first 128 bits of the SHA-256 of the file, in hexadecimal. */
  readonly hash: string;
  /** Pixels of the file. */
  readonly width: number;
  readonly height: number;
}

export interface MerchantLook extends LookSettings {
  readonly merchantId: number;
  readonly logo: Logo | null;
}

/** The settings of a merchant without a look. */
export const NO_SETTINGS: LookSettings = {
  displayName: null,
  accentColour: null,
  supportEmail: null,
  supportPhone: null,
  supportUrl: null,
  termsUrl: null,
};

export const SETTING_NAMES = Object.keys(NO_SETTINGS) as (keyof LookSettings)[];

export function areEqualSettings(one: LookSettings, other: LookSettings): boolean {
  return SETTING_NAMES.every((name) => one[name] === other[name]);
}

/** The settings that are set, for the audit log, the administration API and the console. */
export function pickSettings(settings: LookSettings): Partial<Record<keyof LookSettings, string>> {
  return Object.fromEntries(SETTING_NAMES.flatMap((name) => (settings[name] === null ? [] : [[name, settings[name]]])));
}

export function buildLogoPath({ hash }: Pick<Logo, 'hash'>): string {
  return `/looks/${hash}.png`;
}
