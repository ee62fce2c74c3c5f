import { formatCursor, parseCursor } from './movement-cursor.js';

test('a cursor names its place', () => {
  const after = { createdAt: new Date('2026-03-08T05:00:00.123Z'), position: 42 };
  expect(parseCursor(formatCursor('9223372036854775807', after))).toEqual({ horizon: '9223372036854775807', after });
});

test.each(['', '1', '1_2', '1_2_x', '1_2_3_4', '-1_2_3', '1_2_3\n', '12345678901234567890_1_1'])(
  '%j is refused',
  (text) => {
    expect(() => parseCursor(text)).toThrow(expect.objectContaining({ code: 'request.invalid' }));
  },
);
