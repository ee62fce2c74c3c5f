import { encodeQR } from 'qr';

/** A QR code for a terminal: white on black whatever the terminal's own colours are, since cameras want it that way. */
export function terminalQr(text: string): string {
  return encodeQR(text, 'ascii', { ecc: 'medium', border: 4 })
    .trimEnd()
    .split('\n')
    .map((line) => `\x1b[97;40m${line}\x1b[0m`)
    .join('\n');
}
