import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findFoldersWithPureFiles, findPureFiles } from './pure-files.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pure-files-'));
  mkdirSync(join(root, 'apps'));
  mkdirSync(join(root, 'libs'));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, text = ''): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

test('findPureFiles returns files that have a unit test, or whose name is the singular of their folder', () => {
  write('apps/shop/src/orders/order.ts');
  write('apps/shop/src/orders/place-order.ts');
  write('apps/shop/src/prices/discount.ts');
  write('apps/shop/src/prices/discount.spec.ts');
  expect(findPureFiles(root, 'apps/shop')).toEqual([
    'apps/shop/src/orders/order.ts',
    'apps/shop/src/prices/discount.ts',
  ]);
});

test.each([
  "import { Injectable } from '@nestjs/common';",
  "import {\n  Injectable,\n} from '@nestjs/common';",
  "import { type Relation, Entity } from 'typeorm';",
  "import pg from 'pg';",
  "import type { EntityManager } from 'typeorm';",
  "import type { ConfirmChannel } from 'amqplib';",
  "import { readFileSync } from 'node:fs';",
  "import { readFile } from 'node:fs/promises';",
  "import { ServiceLog } from '@svc/service';",
])('findPureFiles does not return a file with %j', (line) => {
  write('apps/shop/src/orders/order.ts', `import { a } from './a.js';\n${line}\n`);
  expect(findPureFiles(root, 'apps/shop')).toEqual([]);
});

test.each([
  "import type { FastifyReply } from 'fastify';",
  "import { createHash } from 'node:crypto';",
  "import type { NewEvent } from '@svc/messaging';\nimport { a } from './a.js';",
])('findPureFiles returns a file with %j', (line) => {
  write('apps/shop/src/orders/order.ts', line);
  expect(findPureFiles(root, 'apps/shop')).toHaveLength(1);
});

test('findPureFiles returns every file of contracts, kernel and SDK except tests, indexes and build output', () => {
  for (const path of ['src/a.ts', 'src/a.spec.ts', 'src/index.ts', 'dist/a.d.ts', 'dist/a.ts', 'src/http/b.ts'])
    write(`libs/sdk/${path}`);
  expect(findPureFiles(root, 'libs/sdk')).toEqual(['libs/sdk/src/a.ts', 'libs/sdk/src/http/b.ts']);
});

test('findFoldersWithPureFiles omits folders without pure files', () => {
  write('libs/kernel/src/uuid.ts');
  write('apps/shop/src/app.module.ts');
  expect(findFoldersWithPureFiles(root)).toEqual([{ folder: 'libs/kernel', files: ['libs/kernel/src/uuid.ts'] }]);
});
