import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import {
  buildAccentStyle,
  chooseHoverColour,
  chooseLinkColour,
  chooseTextColour,
  computeContrast,
  DARK_GROUNDS,
  LIGHT_GROUNDS,
  MIN_CONTRAST,
} from './accent-colour.js';

const colours = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);

test('contrast is that of WCAG', () => {
  expect(computeContrast('#000000', '#ffffff')).toBeCloseTo(21);
  expect(computeContrast('#ffffff', '#ffffff')).toBe(1);
  expect(computeContrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2);
  expect(computeContrast('#ffffff', '#767676')).toBe(computeContrast('#767676', '#ffffff'));
});

test('with every colour, the text on the button is readable, also under the pointer', () => {
  fc.assert(
    fc.property(colours, (accent) => {
      const text = chooseTextColour(accent);
      expect(computeContrast(text, accent)).toBeGreaterThanOrEqual(MIN_CONTRAST);
      expect(computeContrast(text, chooseHoverColour(accent))).toBeGreaterThanOrEqual(MIN_CONTRAST);
      expect(chooseHoverColour(accent)).not.toBe(text);
    }),
    { numRuns: 2_000 },
  );
});

test('with every colour, links and the edge of the button are readable on each ground, in light and in dark', () => {
  fc.assert(
    fc.property(colours, (accent) => {
      for (const [grounds, towards] of [
        [LIGHT_GROUNDS, '#000000'],
        [DARK_GROUNDS, '#ffffff'],
      ] as const)
        for (const ground of grounds)
          expect(computeContrast(chooseLinkColour(accent, grounds, towards), ground)).toBeGreaterThanOrEqual(
            MIN_CONTRAST,
          );
    }),
    { numRuns: 2_000 },
  );
});

test('a colour that is readable stays as it is, and another one changes as little as necessary', () => {
  expect(chooseLinkColour('#0a5c3a', LIGHT_GROUNDS, '#000000')).toBe('#0a5c3a');
  const darkened = chooseLinkColour('#ffcc00', LIGHT_GROUNDS, '#000000');
  expect(computeContrast(darkened, '#eef0f3')).toBeLessThan(MIN_CONTRAST + 0.4);
});

test('the style sets the colours of the button, the links and the edge, in both schemes', () => {
  expect(buildAccentStyle('#ffcc00')).toBe(
    ':root{--accent:#836900;--button-edge:#836900;--button:#ffcc00;--button-strong:#ffd633;--on-accent:#000000}' +
      '@media (prefers-color-scheme:dark){:root{--accent:#ffcc00;--button-edge:#ffcc00}}',
  );
});

test('the grounds are those of the style sheet', () => {
  const css = readFileSync(join(import.meta.dirname, '../../browser/pay.css'), 'utf8');
  const [light = '', dark = ''] = css.split('@media (prefers-color-scheme: dark)');
  for (const [scheme, grounds] of [
    [light, LIGHT_GROUNDS],
    [dark, DARK_GROUNDS],
  ] as const) {
    const names = ['ground', 'sheet', 'panel', 'bad-ground'];
    const values = names.map((name) => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(scheme)?.[1]);
    expect(values).toEqual(grounds);
  }
});
