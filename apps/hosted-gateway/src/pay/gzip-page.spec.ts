import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { acceptsGzip, gzipPage } from './gzip-page.js';

const STYLE = '<style>h1{color:red}</style>'.repeat(50);
const SCRIPT = `<script>${'pay("ja, né");'.repeat(200)}</script>`;
const FIXED = [STYLE, SCRIPT].map((content) => ({ content }));

describe('a compressed page', () => {
  it('is what was compressed, wherever its fixed parts stand, and without them', () => {
    for (const page of [
      '',
      'text',
      STYLE,
      `a${STYLE}b${SCRIPT}c`,
      `${STYLE}${SCRIPT}`,
      `a${SCRIPT}b`,
      // In another order than was said: what is not found is compressed with the rest.
      `a${SCRIPT}b${STYLE}c`,
      `€ 1 ← ${STYLE} “x” ${STYLE} 😀 ${SCRIPT}`,
    ])
      expect(gunzipSync(gzipPage(page, FIXED)).toString()).toBe(page);
  });

  it('is that for every text and every part of it', () => {
    const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 200 }), { maxLength: 7 });
    fc.assert(
      fc.property(texts, fc.array(fc.nat(6), { maxLength: 4 }), (pieces, chosen) => {
        const page = pieces.join('');
        const fixed = chosen.map((index) => ({ content: pieces[index] ?? 'none' }));
        expect(gunzipSync(gzipPage(page, fixed)).toString()).toBe(page.toWellFormed());
      }),
    );
  });

  it('is hardly larger than one that is compressed as a whole', () => {
    const page = `<p>${'order '.repeat(50)}</p>${STYLE}<p>${'card '.repeat(50)}</p>${SCRIPT}`;
    expect(gzipPage(page, FIXED).length).toBeLessThan(gzipSync(page, { level: 9 }).length + 150);
  });

  it('costs a small part of what it would cost to compress all of it each time', () => {
    const script = Array.from({ length: 20_000 }, (_, index) => (index * 2_654_435_761).toString(36)).join(';');
    const page = `<p>order</p>${script}`;
    const fixed = [{ content: script }];
    const millisecondsOf = (compress: () => unknown): number => {
      const times = Array.from({ length: 5 }, () => {
        const before = performance.now();
        compress();
        return performance.now() - before;
      });
      return Math.min(...times);
    };
    const whole = millisecondsOf(() => gzipSync(page));
    expect(millisecondsOf(() => gzipPage(page, fixed))).toBeLessThan(whole / 2);
  });
});

it.each([
  ['gzip', true],
  ['gzip, deflate, br, zstd', true],
  ['br;q=1.0, gzip;q=0.8, *;q=0.1', true],
  ['x-gzip', true],
  ['GZIP ; q=1', true],
  ['deflate,gzip;q=0.001', true],
  ['gzip;q=0', false],
  ['gzip;q=0.0', false],
  ['br', false],
  ['*', false],
  ['identity', false],
  ['notgzip', false],
  ['', false],
  [undefined, false],
])('of %s gzip is accepted: %p', (accepted, isAccepted) => expect(acceptsGzip(accepted)).toBe(isAccepted));
