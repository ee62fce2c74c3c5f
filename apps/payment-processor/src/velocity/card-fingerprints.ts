import { createHmac } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { networkOf } from '@svc/outbound';
import { ConfigError, readSettingFile } from '@svc/service';
import { PaymentProcessorConfig } from '../config.js';

/** Hashes of a card, from which neither the number nor a part of it can be computed without the key. */
export interface CardFingerprint {
  /** Of the whole number, 22 characters. */
  readonly card: string;
  /** Of the first eight digits (BIN), 22 characters. */
  readonly range: string;
  /** Of the whole number, with the other key. Undefined unless the key is being rotated. */
  readonly otherCard?: string | undefined;
}

/** Digits of a number range. */
const RANGE_DIGITS = 8;
/** 128 bits, as base64url. */
const HASH_LENGTH = 22;
const KEY_FORMAT = /^[A-Za-z0-9_-]{43}(,[A-Za-z0-9_-]{43})?$/;

/**
 * Computes the hashes with which this service counts declines (P11). They are HMAC-SHA-256 with a key of their own, so
 * that a copy of the database cannot be searched for the numbers of stolen cards. The hashes of test and live mode
 * differ. A hash never leaves this service: it is in no event, log, metric or trace.
 */
@Injectable()
export class CardFingerprints {
  private readonly key: Buffer;
  private readonly otherKey: Buffer | undefined;

  constructor(
    @Inject(PaymentProcessorConfig)
    config: Pick<PaymentProcessorConfig, 'SVC_CARD_FINGERPRINT_KEYS' | 'SVC_CARD_FINGERPRINT_KEYS_FILE'>,
  ) {
    const [key, otherKey] = readKeys(config).split(',');
    this.key = Buffer.from(key!, 'base64url');
    this.otherKey = otherKey === undefined ? undefined : Buffer.from(otherKey, 'base64url');
  }

  ofCard(mode: Mode, cardNumber: string): CardFingerprint {
    const text = `card ${mode} ${cardNumber}`;
    return {
      card: hash(this.key, text),
      range: this.ofRange(mode, cardNumber),
      otherCard: this.otherKey && hash(this.otherKey, text),
    };
  }

  /** @param digits a card number, or its first eight digits */
  ofRange(mode: Mode, digits: string): string {
    return hash(this.key, `range ${mode} ${digits.slice(0, RANGE_DIGITS)}`);
  }

  /**
   * The hash of a payer's network: an IPv4 address, or the first 64 bits of an IPv6 address, because a payer has all
   * addresses of such a network. Undefined for an invalid address.
   */
  ofAddress(mode: Mode, address: string): string | undefined {
    const network = networkOf(address);
    return network === undefined ? undefined : hash(this.key, `address ${mode} ${network}`);
  }

  /** All payers whose address is unknown have one hash, so that no payer evades the limits of addresses. */
  ofUnknownAddress(mode: Mode): string {
    return hash(this.key, `address ${mode} unknown`);
  }
}

function hash(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url').slice(0, HASH_LENGTH);
}

function readKeys({
  SVC_CARD_FINGERPRINT_KEYS: keys,
  SVC_CARD_FINGERPRINT_KEYS_FILE: file,
}: Pick<PaymentProcessorConfig, 'SVC_CARD_FINGERPRINT_KEYS' | 'SVC_CARD_FINGERPRINT_KEYS_FILE'>): string {
  if ((keys === undefined) === (file === undefined))
    throw new ConfigError('Exactly one of SVC_CARD_FINGERPRINT_KEYS and SVC_CARD_FINGERPRINT_KEYS_FILE is required.');
  const text = keys ?? readSettingFile(file!);
  if (text === undefined) throw new ConfigError('The file of SVC_CARD_FINGERPRINT_KEYS_FILE cannot be read.');
  if (!KEY_FORMAT.test(text))
    throw new ConfigError('SVC_CARD_FINGERPRINT_KEYS_FILE must contain one or two keys of 32 bytes as base64url.');
  const [key, otherKey] = text.split(',');
  if (key === otherKey) throw new ConfigError('SVC_CARD_FINGERPRINT_KEYS contains a key twice.');
  return text;
}
