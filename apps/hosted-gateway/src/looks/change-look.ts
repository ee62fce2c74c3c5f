import { Inject, Injectable } from '@nestjs/common';
import { AuditTrail, type ChangeAuthor } from '@svc/auth';
import { DomainError } from '@svc/kernel';
import { inTransaction, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { LogoFile } from './logo-image.js';
import { areEqualSettings, type Logo, type LookSettings, pickSettings } from './look.js';
import { LookRepository, type StoredLook } from './look.repository.js';

/** A look with its logo: a new one, none, or the one that is stored. */
export interface CompleteLook {
  readonly settings: LookSettings;
  readonly logo: LogoFile | 'none' | 'stored';
}

/** Changes the look of a merchant. The audit log shows it before and after. A change to the same look changes nothing. */
@Injectable()
export class ChangeLook {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(LookRepository) private readonly looks: LookRepository,
    @Inject(AuditTrail) private readonly audit: AuditTrail,
  ) {}

  /** Replaces all settings. The logo stays. Throws `resource.not-found`. */
  setSettings(author: ChangeAuthor, merchantId: number, settings: LookSettings): Promise<StoredLook> {
    return this.change(author, merchantId, (tx, before) => this.replaceSettings(tx, author, before, settings));
  }

  /** Throws `resource.not-found`. */
  setLogo(author: ChangeAuthor, merchantId: number, file: LogoFile): Promise<StoredLook> {
    return this.change(author, merchantId, (tx, before) => this.replaceLogo(tx, author, before, file));
  }

  /** Deletes the logo and all earlier logos of the merchant. Throws `resource.not-found`. */
  deleteLogo(author: ChangeAuthor, merchantId: number): Promise<StoredLook> {
    return this.change(author, merchantId, (tx, before) => this.replaceLogo(tx, author, before, 'none'));
  }

  /**
   * Replaces settings and logo together. Throws `resource.not-found`, and `resource.conflict` if the look has changed
   * since the author read this version, so that no change of another person is lost.
   */
  setLook(
    author: ChangeAuthor,
    merchantId: number,
    { settings, logo }: CompleteLook,
    version: number,
  ): Promise<StoredLook> {
    return this.change(author, merchantId, async (tx, before) => {
      if (areEqualSettings(before, settings) && isSameLogo(before, logo)) return;
      if (before.version !== version) throw new DomainError('resource.conflict');
      await this.replaceSettings(tx, author, before, settings);
      if (logo !== 'stored') await this.replaceLogo(tx, author, before, logo);
    });
  }

  private async replaceSettings(
    tx: Transaction,
    author: ChangeAuthor,
    before: StoredLook,
    settings: LookSettings,
  ): Promise<void> {
    if (areEqualSettings(before, settings)) return;
    const { merchantId } = before;
    await this.looks.setSettings(tx, merchantId, settings, author.actor);
    await this.audit.append(tx, author, {
      action: 'merchant-look.set',
      merchantId,
      before: pickSettings(before),
      after: pickSettings(settings),
    });
  }

  private async replaceLogo(
    tx: Transaction,
    author: ChangeAuthor,
    before: StoredLook,
    logo: LogoFile | 'none',
  ): Promise<void> {
    if (isSameLogo(before, logo)) return;
    const { merchantId } = before;
    if (logo === 'none') {
      await this.looks.deleteLogos(tx, merchantId, author.actor);
      return this.appendLogoChange(tx, author, before, 'merchant-logo.deleted', null);
    }
    await this.looks.setLogo(tx, merchantId, logo, author.actor);
    const { hash, width, height } = logo;
    await this.appendLogoChange(tx, author, before, 'merchant-logo.set', { hash, width, height });
  }

  private appendLogoChange(
    tx: Transaction,
    author: ChangeAuthor,
    { merchantId, logo }: StoredLook,
    action: string,
    after: Logo | null,
  ): Promise<void> {
    return this.audit.append(tx, author, { action, merchantId, before: { logo }, after: { logo: after } });
  }

  private async change(
    { actor }: ChangeAuthor,
    merchantId: number,
    write: (tx: Transaction, before: StoredLook) => Promise<void>,
  ): Promise<StoredLook> {
    await inTransaction(this.dataSource, async (tx) => {
      await this.looks.checkMerchant(tx, merchantId);
      await write(tx, await this.looks.lock(tx, merchantId, actor));
    });
    return (await this.looks.find(merchantId))!;
  }
}

function isSameLogo({ logo: stored }: StoredLook, logo: CompleteLook['logo']): boolean {
  if (logo === 'stored') return true;
  return logo === 'none' ? stored === null : stored?.hash === logo.hash;
}
