import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { SvcError } from '../base/svc-error.ts';
import { command, parseMerchantId, request, usageError } from './command.ts';

/** Options of `look set`, and the settings of the API. */
const SETTINGS = {
  name: 'displayName',
  colour: 'accentColour',
  email: 'supportEmail',
  phone: 'supportPhone',
  'help-page': 'supportUrl',
  terms: 'termsUrl',
} as const;

const LOGO_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
};
const MAX_LOGO_BYTES = 256 * 1024;

/** The look of a merchant on the payment page: colour, logo, name and contact. */
export const lookCommands = [
  request('look show <merchant>', "shows the look of a merchant's payment page", 'GET /looks/{merchant}'),
  command(
    'look set <merchant> [--name=…] [--colour=…] [--email=…] [--phone=…] [--help-page=…] [--terms=…]',
    "sets the look of a merchant's payment page; an option that is absent is removed, the logo stays",
    (api, { merchant, ...input }) => {
      const settings = Object.entries(SETTINGS).flatMap(([option, name]) => {
        const value = input[option as keyof typeof SETTINGS];
        return value === undefined ? [] : [[name, value] as const];
      });
      return api.call('PUT', `/looks/${parseMerchantId(merchant)}`, Object.fromEntries(settings));
    },
  ),
  command(
    'look logo <merchant> <file>',
    'sets the logo: a PNG, JPEG or WebP file of at most 256 KiB; "none" deletes it',
    (api, { merchant, file }) => {
      const path = `/looks/${parseMerchantId(merchant)}/logo`;
      if (file === 'none') return api.call('DELETE', path);
      const type = LOGO_TYPES[extname(file).toLowerCase()];
      if (type === undefined) throw usageError(`"${file}" is not a PNG, JPEG or WebP file`);
      return api.upload('PUT', path, type, readLogo(file));
    },
  ),
];

function readLogo(file: string): Buffer {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    throw new SvcError(`${file} cannot be read`, { cause });
  }
  if (bytes.length > MAX_LOGO_BYTES) throw new SvcError(`${file} has more than 256 KiB`);
  return bytes;
}
