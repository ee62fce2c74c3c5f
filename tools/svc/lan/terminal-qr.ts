import { encodeQR } from 'qr';

/** A QR code for a terminal, white on black regardless of the terminal's colours: cameras need the contrast. */
export function terminalQr(text: string): string {
  return encodeQR(text, 'ascii', { ecc: 'medium', border: 4 })
    .trimEnd()
    .split('\n')
    .map((line) => `\x1b[97;40m${line}\x1b[0m`)
    .join('\n');
}
