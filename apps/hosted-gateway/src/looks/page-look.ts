import { createHash } from 'node:crypto';
import type { PageLogo, PageLook } from '../page-views/merchant-look/page-look.js';
import { buildAccentStyle, chooseTextColour } from './accent-colour.js';
import { buildLogoPath, type Logo, type MerchantLook, pickSettings } from './look.js';

/** Largest size of a logo on the page, in CSS pixels. */
const MAX_WIDTH = 240;
const MAX_HEIGHT = 56;

/** Builds the part of a look that pages show. Undefined if the merchant has the look of the platform. */
export function buildPageLook(look: MerchantLook): PageLook | undefined {
  const { accentColour, ...settings } = pickSettings(look);
  if (accentColour === undefined && look.logo === null && Object.keys(settings).length === 0) return undefined;
  return {
    ...settings,
    ...(look.logo === null ? {} : { logo: buildPageLogo(look.logo) }),
    ...(accentColour === undefined ? {} : buildColours(accentColour)),
  };
}

function buildPageLogo(logo: Logo): PageLogo {
  const { width, height } = logo;
  const scale = Math.min(MAX_WIDTH / width, MAX_HEIGHT / height, 1);
  const shorten = (pixels: number): number => Math.max(1, Math.round(pixels * scale));
  return { path: buildLogoPath(logo), width: shorten(width), height: shorten(height) };
}

function buildColours(accentColour: string): Pick<PageLook, 'style' | 'accent'> {
  const content = buildAccentStyle(accentColour);
  const integrity = `sha384-${createHash('sha384').update(content).digest('base64')}`;
  return {
    style: { content, integrity },
    accent: { background: accentColour, text: chooseTextColour(accentColour) },
  };
}
