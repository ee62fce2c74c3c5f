import { v7 } from 'uuid';
import type { Clock } from './clock.js';

/** A UUID of version 7 at the injected time: sorts by creation, which keeps indexes compact. */
export function newUuid(clock: Clock): string {
  return v7({ msecs: clock.now().getTime() });
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && UUID.test(text);
}
