import { eventType } from '@svc/contracts';
import { inTransaction } from '@svc/persistence';
import { waitUntil } from '@svc/testing';
import type { DataSource } from 'typeorm';
import type { EventHandler } from '../../src/index.js';
import type { MessagingHarness, Producer } from './harness.js';

export interface Note {
  text: string;
}
export const NotedV1 = eventType<Note>('noted.v1');

/** Longest wait for an expected result. */
export const DEADLINE_MS = 20_000;

/** Creates a table for effects. It has no unique constraint, so that a test can find duplicate effects. */
export async function createEffectsTable(harness: MessagingHarness, service: string): Promise<DataSource> {
  const database = await harness.database(service);
  await database.query(`CREATE TABLE effects (nr bigserial, text text NOT NULL)`);
  return database;
}

/** Writes an effect for each event, in the consumer's transaction. */
export const writeEffects: EventHandler = async (events, { tx }) => {
  for (const event of events) await tx.query(`INSERT INTO effects (text) VALUES ($1)`, [(event.payload as Note).text]);
};

export async function readEffects(database: DataSource): Promise<string[]> {
  const rows = await database.query<{ text: string }[]>(`SELECT text FROM effects ORDER BY nr`);
  return rows.map((row) => row.text);
}

/** Waits until the effects, in any order, are exactly these. */
export async function expectEffects(database: DataSource, texts: readonly string[]): Promise<void> {
  const expected = [...texts].sort();
  await waitUntil(
    `${texts.length} effects`,
    DEADLINE_MS,
    async () => (await readEffects(database)).length >= texts.length,
  );
  expect((await readEffects(database)).sort()).toEqual(expected);
}

/** Appends one event for each text, in one transaction. */
export async function appendNotes({ dataSource, events }: Producer, ...texts: string[]): Promise<void> {
  await inTransaction(dataSource, (tx) => events.append(tx, ...texts.map(newNoteEvent)));
}

export function newNoteEvent(text: string): {
  type: typeof NotedV1;
  aggregateId: string;
  aggregateVersion: number;
  payload: Note;
} {
  return { type: NotedV1, aggregateId: text, aggregateVersion: 1, payload: { text } };
}

export function countOccurrences(texts: readonly string[]): Record<string, number> {
  const result: Record<string, number> = {};
  for (const text of texts) result[text] = (result[text] ?? 0) + 1;
  return result;
}
