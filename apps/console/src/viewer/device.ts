import { MAX_DEVICE_NAME_LENGTH, type SessionDevice } from '@svc/contracts';
import type { FastifyRequest } from 'fastify';

/** The first that occurs in the header. Chrome names Safari too, and Edge and Opera name both. */
const BROWSERS = [
  ['Edg', 'Edge'],
  ['OPR/', 'Opera'],
  ['SamsungBrowser/', 'Samsung Internet'],
  ['Firefox/', 'Firefox'],
  ['FxiOS/', 'Firefox'],
  ['CriOS/', 'Chrome'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;

const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['CrOS', 'ChromeOS'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/**
 * The browser and operating system, such as `Firefox · Android`, so that a person recognises the own sessions. For
 * another browser the beginning of the header.
 */
export function nameDevice(userAgent: string): string {
  const browser = BROWSERS.find(([mark]) => userAgent.includes(mark))?.[1];
  const system = SYSTEMS.find(([mark]) => userAgent.includes(mark))?.[1];
  if (browser === undefined)
    return (
      userAgent
        .replace(/[^\x20-\x7e]/g, '')
        .trim()
        .slice(0, MAX_DEVICE_NAME_LENGTH)
        .trim() || 'Browser'
    );
  return system === undefined ? browser : `${browser} · ${system}`;
}

export function readDevice(request: FastifyRequest): SessionDevice {
  return { name: nameDevice(request.headers['user-agent'] ?? ''), address: request.ip };
}
