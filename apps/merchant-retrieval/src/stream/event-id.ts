import type { Mode } from '@svc/contracts';

/** A stream sends the notifications of one channel, that is, of one site in one mode. */
export interface Channel {
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
}

/**
 * Creates the `id` of an event. The id is opaque to clients. It contains the version of this format (1), and the
 * channel, so that it is invalid for another channel.
 */
export function encodeEventId({ merchantId, siteId, mode }: Channel, position: number): string {
  return Buffer.from(`1.${merchantId}.${siteId}.${mode}.${position}`).toString('base64url');
}

/** Returns the position of an id that {@link encodeEventId} created for this channel, or undefined for other texts. */
export function decodePosition(channel: Channel, eventId: string): number | undefined {
  const position = /\.(\d{1,15})$/.exec(Buffer.from(eventId, 'base64url').toString())?.[1];
  if (position === undefined) return undefined;
  // The code above accepts invalid characters, another channel and leading zeros. The comparison with the encoded id
  // rejects them.
  return encodeEventId(channel, Number(position)) === eventId ? Number(position) : undefined;
}
