import { joinCursors, type LogCursor, type TargetCursor } from './log-cursor.js';

const at = (txid: number, position: number, ...open: number[]): LogCursor => ({
  txid: `${txid}`,
  position,
  openTxids: open.map(String),
});
const cursor = (own: LogCursor, held: Record<string, LogCursor> = {}): TargetCursor => ({ ...own, held });

test('joined cursors have the position of the slowest, compared as numbers', () => {
  expect(joinCursors([cursor(at(7, 3)), cursor(at(7, 2)), cursor(at(10, 1))])).toEqual(cursor(at(7, 2)));
  expect(joinCursors([cursor(at(10, 1)), cursor(at(9, 5))])).toEqual(cursor(at(9, 5)));
});

test('joined cursors keep each open transaction of each cursor that is not after the position', () => {
  expect(joinCursors([cursor(at(7, 2, 4)), cursor(at(9, 3, 5, 7, 8))])).toEqual(cursor(at(7, 2, 4, 5, 7)));
});

test('a held type stays held from the first cursor that has not passed its events', () => {
  const joined = joinCursors([
    cursor(at(7, 8), { 'x.v1': at(7, 4), 'y.v1': at(7, 6, 2), 'z.v1': at(7, 8, 5) }),
    cursor(at(7, 7, 3), { 'x.v1': at(7, 3), 'y.v1': at(7, 6) }),
  ]);
  // `z.v1` is held after the position of the joined cursor, so it is read again from there, with its open transactions.
  expect(joined).toEqual(cursor(at(7, 7, 3, 5), { 'x.v1': at(7, 3), 'y.v1': at(7, 6, 2) }));
});

test('a type that only one consumer holds is also missing the open transactions of the others', () => {
  const joined = joinCursors([cursor(at(7, 8), { 'x.v1': at(7, 4, 2) }), cursor(at(7, 9, 3))]);
  expect(joined).toEqual(cursor(at(7, 8, 3), { 'x.v1': at(7, 4, 2, 3) }));
});
