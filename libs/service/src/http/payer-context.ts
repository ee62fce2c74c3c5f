import { isIP } from 'node:net';
import type { BrowserData, PayerContext } from '@svc/contracts';
import type { FastifyRequest } from 'fastify';

/** The following limits come from 3-D Secure 2, and the limit for the language from BCP 47. */
const MAX_HEADER_LENGTH = 2048;
const LANGUAGE = /^[A-Za-z0-9-]{1,35}$/;
const MAX_SCREEN_SIZE = 999_999;
const MAX_COLOR_DEPTH = 48;
const MAX_TIME_ZONE_OFFSET = 840;

/**
 * The payer's context for a charge: the IP address from the trusted proxies, two headers of the request, and browser
 * data from the page's script. Omits each missing or invalid field, so that it never prevents a payment (P10).
 *
 * @param browser untrusted input of any shape; undefined if the script sent none
 */
export function readPayerContext(
  { ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>,
  browser: unknown,
): PayerContext {
  const isSent = typeof browser === 'object' && browser !== null;
  const data = (isSent ? browser : {}) as Readonly<Record<keyof BrowserData, unknown>>;
  const address = normaliseIp(ip);
  return {
    ...(address === undefined ? {} : { address }),
    browser: omitUndefined({
      acceptHeader: validHeader(headers.accept),
      userAgent: validHeader(headers['user-agent']),
      language: typeof data.language === 'string' && LANGUAGE.test(data.language) ? data.language : undefined,
      screenWidth: validInteger(data.screenWidth, 0, MAX_SCREEN_SIZE),
      screenHeight: validInteger(data.screenHeight, 0, MAX_SCREEN_SIZE),
      colorDepth: validInteger(data.colorDepth, 1, MAX_COLOR_DEPTH),
      timeZoneOffsetMinutes: validInteger(data.timeZoneOffsetMinutes, -MAX_TIME_ZONE_OFFSET, MAX_TIME_ZONE_OFFSET),
      // Only the page's script sends browser data.
      javaScriptEnabled: isSent ? true : undefined,
    }),
  };
}

/**
 * Removes the zone of a link-local address, and converts an IPv4-mapped address to IPv4. Undefined if the address is
 * invalid.
 */
function normaliseIp(ip: string): string | undefined {
  const address = ip.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.[\d.]+$)/i, '');
  return isIP(address) === 0 ? undefined : address;
}

/** Undefined unless the text is printable ASCII, because an acquirer may copy it into a header or a form. */
function validHeader(text: string | undefined): string | undefined {
  return text !== undefined && text.length <= MAX_HEADER_LENGTH && /^[\x20-\x7e]+$/.test(text) ? text : undefined;
}

function validInteger(value: unknown, min: number, max: number): number | undefined {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max
    ? (value as number)
    : undefined;
}

function omitUndefined(data: { [Field in keyof BrowserData]: BrowserData[Field] | undefined }): BrowserData {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
}
