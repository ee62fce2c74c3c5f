import type { BrowserData, PayerContext } from '@svc/contracts';
import type { FastifyRequest } from 'fastify';
import { isIP } from 'node:net';

/** Bounds of 3-D Secure 2; the language's is that of BCP 47. */
const HEADER_LENGTH_MAX = 2048;
const LANGUAGE = /^[A-Za-z0-9-]{1,35}$/;
const SCREEN_MAX = 999_999;
const COLOR_DEPTH_MAX = 48;
const TIME_ZONE_OFFSET_MAX = 840;

/**
 * The payer's context for a charge: the address as the trusted proxies tell it, two headers of the request, and what the page's script
 * read of its browser. What is missing or makes no sense is left out, field by field: it never stops a payment (P10).
 *
 * @param browser from the payer, so anything at all; undefined where the script sent none
 */
export function payerContextOf(
  { ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>,
  browser: unknown,
): PayerContext {
  const isSent = typeof browser === 'object' && browser !== null;
  const told = (isSent ? browser : {}) as Readonly<Record<keyof BrowserData, unknown>>;
  const address = plainAddress(ip);
  return {
    ...(address === undefined ? {} : { address }),
    browser: withoutGaps({
      acceptHeader: headerText(headers.accept),
      userAgent: headerText(headers['user-agent']),
      language: typeof told.language === 'string' && LANGUAGE.test(told.language) ? told.language : undefined,
      screenWidth: wholeNumber(told.screenWidth, 0, SCREEN_MAX),
      screenHeight: wholeNumber(told.screenHeight, 0, SCREEN_MAX),
      colorDepth: wholeNumber(told.colorDepth, 1, COLOR_DEPTH_MAX),
      timeZoneOffsetMinutes: wholeNumber(told.timeZoneOffsetMinutes, -TIME_ZONE_OFFSET_MAX, TIME_ZONE_OFFSET_MAX),
      // Only the page's script sends browser data.
      javaScriptEnabled: isSent ? true : undefined,
    }),
  };
}

/** Without the zone of a link-local address, and an IPv4 address as one. */
function plainAddress(ip: string): string | undefined {
  const address = ip.replace(/%.*$/, '').replace(/^::ffff:(?=[\d.]+$)/i, '');
  return isIP(address) === 0 ? undefined : address;
}

/** Visible ASCII: an acquirer may put it into a header or a form of its own. */
function headerText(text: string | undefined): string | undefined {
  return text !== undefined && text.length <= HEADER_LENGTH_MAX && /^[\x20-\x7e]+$/.test(text) ? text : undefined;
}

function wholeNumber(value: unknown, min: number, max: number): number | undefined {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max
    ? (value as number)
    : undefined;
}

function withoutGaps(data: { [Field in keyof BrowserData]: BrowserData[Field] | undefined }): BrowserData {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
}
