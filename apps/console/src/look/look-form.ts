import { type LogoUpload, type LookDraft, type LookFields, MAX_LOGO_BYTES } from '@svc/contracts';
import { readField, readFile } from '../layout/forms.js';

/** Longest value of a text field. hosted-gateway knows the limit of each. */
const MAX_TEXT_LENGTH = 500;
/** Longest logo that hosted-gateway encodes, in base64. */
const MAX_DRAFT_LOGO_LENGTH = 150_000;
const LOGO_TYPES: readonly LogoUpload['type'][] = ['image/png', 'image/jpeg', 'image/webp'];
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export const TEXT_FIELDS = ['displayName', 'supportEmail', 'supportPhone', 'supportUrl', 'termsUrl'] as const;

/** The form of a look. `problem`: the name of a field that cannot be sent on. */
export interface LookForm {
  readonly draft: LookDraft;
  /** The version that the person saw. */
  readonly version: number;
  /** The logo comes from an earlier preview, not from a new file. */
  readonly isLogoOfPreview: boolean;
  readonly problem?: keyof LookFields | 'logo' | undefined;
}

/** Reads the form. hosted-gateway checks the values, and decodes the logo. */
export function readLookForm(form: unknown): LookForm {
  const settings: LookFields = {};
  let problem: LookForm['problem'];
  for (const name of TEXT_FIELDS) {
    const value = readField(form, name, MAX_TEXT_LENGTH);
    if (value !== undefined) settings[name] = value;
    else if (readField(form, name, Number.MAX_SAFE_INTEGER) !== undefined) problem ??= name;
  }
  if (readField(form, 'hasColour', 2) !== undefined) settings.accentColour = readField(form, 'accentColour', 20) ?? '';
  const removesLogo = readField(form, 'removeLogo', 2) !== undefined;
  const logo = removesLogo ? undefined : readLogo(form);
  if (logo === 'unusable') problem ??= 'logo';
  return {
    draft: { settings, removesLogo, ...(logo === undefined || logo === 'unusable' ? {} : { logo }) },
    version: Number(/^\d{1,15}$/.exec(readField(form, 'version', 15) ?? '') ?? 0),
    isLogoOfPreview: readFile(form, 'logo') === undefined,
    problem,
  };
}

/** A file that the person has chosen, or the logo of the preview, which the form contains. */
function readLogo(form: unknown): LogoUpload | 'unusable' | undefined {
  const file = readFile(form, 'logo');
  if (file === undefined) {
    const base64 = readField(form, 'draftLogo', MAX_DRAFT_LOGO_LENGTH);
    return base64 !== undefined && BASE64.test(base64) ? { type: 'image/png', base64 } : undefined;
  }
  const type = LOGO_TYPES.find((known) => known === file.type);
  if (type === undefined || file.bytes.length > MAX_LOGO_BYTES) return 'unusable';
  return { type, base64: file.bytes.toString('base64') };
}
