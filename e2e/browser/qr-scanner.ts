/** Reads a QR code from a screenshot, like a phone's camera. The library is not the one that draws the codes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { ROOT } from '../platform/platform.js';

const READER = join(ROOT, 'node_modules', 'jsqr', 'dist', 'jsQR.js');

/** The text of the first code in a PNG, or undefined. Finds only dark codes on a light ground, like most cameras. */
export async function readQr(browser: Browser, png: Buffer): Promise<string | undefined> {
  const page = await browser.newPage();
  try {
    await page.evaluate(readFileSync(READER, 'utf8'));
    // The browser decodes the PNG, so the tests need no library for pictures.
    return await page.evaluate(async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const canvas = new OffscreenCanvas(picture.width, picture.height).getContext('2d')!;
      canvas.drawImage(picture, 0, 0);
      const { data, width, height } = canvas.getImageData(0, 0, picture.width, picture.height);
      const { jsQR } = window as unknown as {
        jsQR: (data: Uint8ClampedArray, width: number, height: number, options: object) => { data: string } | null;
      };
      return jsQR(data, width, height, { inversionAttempts: 'dontInvert' })?.data;
    }, png.toString('base64'));
  } finally {
    await page.close();
  }
}
