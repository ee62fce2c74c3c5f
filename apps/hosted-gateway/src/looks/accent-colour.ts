/**
 * Derives the colours of a page from the accent colour of a merchant, so that each text keeps the contrast of WCAG 2.2
 * (4.5:1), in both colour schemes. Every colour is possible: one of black and white has a contrast of at least 4.58:1 on
 * it, and for links the colour is mixed with black or white until it is readable on each ground of the page.
 */
import type { LookColours } from '@svc/contracts';

/** Smallest contrast between a text and its ground (WCAG 2.2, 1.4.3). */
export const MIN_CONTRAST = 4.5;
/** The grounds on which the page shows links, in light and in dark (`pay.css`). */
export const LIGHT_GROUNDS = ['#eef0f3', '#ffffff', '#f7f8fa', '#fdf1ef'];
export const DARK_GROUNDS = ['#0d1014', '#171b21', '#1c2128', '#2d1b1b'];

const WHITE = '#ffffff';
const BLACK = '#000000';
/** How much the button changes under the pointer. */
const HOVER_SHARE = 0.2;
const LINK_STEPS = 64;

/** Black or white, for a text on this colour. */
export function chooseTextColour(background: string): string {
  return computeContrast(WHITE, background) >= MIN_CONTRAST ? WHITE : BLACK;
}

/** The colour of the button under the pointer: further away from the colour of its text. */
export function chooseHoverColour(background: string): string {
  return mixColours(background, chooseTextColour(background) === WHITE ? BLACK : WHITE, HOVER_SHARE);
}

/** The accent colour, as far darkened or lightened as links on all these grounds need it. */
export function chooseLinkColour(accent: string, grounds: readonly string[], towards: string): string {
  for (let step = 0; step < LINK_STEPS; step++) {
    const colour = mixColours(accent, towards, step / LINK_STEPS);
    if (grounds.every((ground) => computeContrast(colour, ground) >= MIN_CONTRAST)) return colour;
  }
  return towards;
}

/** The colours of the texts of a page with this accent colour. */
export function chooseColours(accent: string): LookColours {
  return {
    buttonText: chooseTextColour(accent),
    linksOnLight: chooseLinkColour(accent, LIGHT_GROUNDS, BLACK),
    linksOnDark: chooseLinkColour(accent, DARK_GROUNDS, WHITE),
  };
}

/** The style sheet that sets the colours of `pay.css`. The edge keeps the button visible on a ground of its colour. */
export function buildAccentStyle(accent: string): string {
  const { buttonText, linksOnLight: light, linksOnDark: dark } = chooseColours(accent);
  const button = `--button:${accent};--button-strong:${chooseHoverColour(accent)};--on-accent:${buttonText}`;
  return [
    `:root{--accent:${light};--button-edge:${light};${button}}`,
    `@media (prefers-color-scheme:dark){:root{--accent:${dark};--button-edge:${dark}}}`,
  ].join('');
}

/** Contrast ratio of two colours `#rrggbb` (WCAG 2.2), from 1 to 21. */
export function computeContrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [computeLuminance(one), computeLuminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function computeLuminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = readChannels(colour).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mixColours(colour: string, other: string, share: number): string {
  const others = readChannels(other);
  const mixed = readChannels(colour).map((channel, index) => channel + ((others[index] ?? 0) - channel) * share);
  return `#${mixed.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('')}`;
}

function readChannels(colour: string): number[] {
  return [1, 3, 5].map((from) => Number.parseInt(colour.slice(from, from + 2), 16));
}
