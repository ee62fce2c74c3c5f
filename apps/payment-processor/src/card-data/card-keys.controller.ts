import { Controller, Get, Inject, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import type { CardKeyView } from './card-key.js';
import { RotateCardKey } from './rotate-card-key.js';

/** Encryption keys for card data (P8), for administrators. Needs `x-admin-key`. */
@Controller('admin/v1/card-keys')
@UseGuards(AdminKeyGuard)
export class CardKeysController {
  constructor(@Inject(RotateCardKey) private readonly rotateCardKey: RotateCardKey) {}

  /** Lists the newest 100 card keys, retired ones too. */
  @Get()
  async list(): Promise<{ cardKeys: CardKeyView[] }> {
    return { cardKeys: await this.rotateCardKey.list() };
  }

  /**
   * Creates a new card key, which is current immediately.
   *
   * @throws resource.conflict Another rotation is running, or ten keys are still accepted.
   */
  @Post()
  rotate(@Author() author: ChangeAuthor): Promise<CardKeyView> {
    return this.rotateCardKey.execute(author);
  }
}
