import { invalidField } from '@svc/kernel';
import type { MovementPosition } from '../settlement.repository.js';

/** The place in a list at which the next page continues. */
export interface MovementCursor {
  /** A transaction id: only movements of older transactions belong to the list. */
  readonly horizon: string;
  readonly after: MovementPosition | undefined;
}

const CURSOR = /^(?<horizon>\d{1,19})_(?<time>\d{1,14})_(?<position>\d{1,15})$/;

export function formatCursor(horizon: string, { createdAt, position }: MovementPosition): string {
  return `${horizon}_${createdAt.getTime()}_${position}`;
}

/** @throws DomainError `request.invalid` */
export function parseCursor(text: string): MovementCursor {
  const { horizon, time, position } = CURSOR.exec(text)?.groups ?? {};
  if (horizon === undefined) throw invalidField('after', 'after must be next of the page before');
  return { horizon, after: { createdAt: new Date(Number(time)), position: Number(position) } };
}
