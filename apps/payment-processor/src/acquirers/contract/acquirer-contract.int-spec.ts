/**
 * The contract of every acquirer (docs/add-an-acquirer.md): the same cases with the real service, PostgreSQL and the
 * acquirer's simulator, and the same invariants after each case.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AcquirerDriver } from '../../../test/contract/acquirer-driver.js';
import { AdyenDriver } from '../../../test/contract/adyen-driver.js';
import { ALL_CASES } from '../../../test/contract/cases/all-cases.js';
import { ContractWorld } from '../../../test/contract/contract-world.js';
import { expectInvariants, findTablesWithCards } from '../../../test/contract/invariants.js';
import { SimulatedDriver } from '../../../test/contract/simulated-driver.js';

const DRIVERS: readonly AcquirerDriver[] = [new SimulatedDriver(), new AdyenDriver()];

describe.each(DRIVERS)('$acquirer', (driver) => {
  let world: ContractWorld;
  beforeAll(async () => {
    world = await ContractWorld.start(driver);
  });
  beforeEach(() => world.beginCase());
  afterAll(() => world.stop());

  const possible = Object.keys(ALL_CASES).filter((name) => driver.impossible[name] === undefined);

  test.each(possible)('%s', async (name) => {
    const end = await ALL_CASES[name]!(world);
    world.deliversReports = true;
    await world.settle();
    await expectInvariants(world, end?.openAuthorisations);
  });

  test('a card number in a table would be found', async () => {
    const { cardNumber } = driver.card('approved');
    world.cardNumbers.add(cardNumber);
    await world.processor.superuser.query(
      `CREATE TABLE planted (value text); INSERT INTO planted VALUES ('x${cardNumber}')`,
    );
    expect(await findTablesWithCards(world)).toEqual(['public.planted']);
    await world.processor.superuser.query(`DROP TABLE planted`);
  });
});

/** Each case, and for each acquirer that it passes, or why it cannot have the case. */
function listCases(): string[][] {
  const cellOf = ({ impossible }: AcquirerDriver, name: string): string => impossible[name] ?? 'passes';
  return Object.keys(ALL_CASES).map((name) => [name, ...DRIVERS.map((driver) => cellOf(driver, name))]);
}

test('the documentation lists the cases of each acquirer', () => {
  const path = join(import.meta.dirname, '../../../../../docs/add-an-acquirer.md');
  const [, table = ''] = readFileSync(path, 'utf8').split('<!-- cases -->');
  const rows = table.split('\n').filter((line) => line.startsWith('|'));
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  expect(cells.slice(2)).toEqual(listCases());
});

test('a driver names only cases that exist', () => {
  for (const { impossible } of DRIVERS)
    expect(Object.keys(ALL_CASES)).toEqual(expect.arrayContaining(Object.keys(impossible)));
});
