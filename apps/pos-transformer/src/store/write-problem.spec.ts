import { describeWriteProblem } from './write-problem.js';

it.each([
  [13, 'the disk of the store’s computer is full'],
  // SQLITE_IOERR_FSYNC
  [1_034, 'the disk of the store’s computer has failed'],
  [8, 'the database file is read-only'],
  [14, 'a file of the database cannot be opened'],
])('the result code %d means that %s', (errcode, problem) => {
  expect(describeWriteProblem(Object.assign(new Error('SQLite'), { errcode }))).toBe(problem);
});

it.each([
  // SQLITE_CONSTRAINT_UNIQUE, SQLITE_BUSY
  Object.assign(new Error('SQLite'), { errcode: 2_067 }),
  Object.assign(new Error('SQLite'), { errcode: 5 }),
  new Error('failed'),
  undefined,
  null,
])('%s is no failure of the disk', (error) => expect(describeWriteProblem(error)).toBeUndefined());
