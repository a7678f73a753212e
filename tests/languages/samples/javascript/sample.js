#!/usr/bin/env node
/**
 * A small job queue with pluggable storage.
 */
'use strict';

import fs from 'node:fs';
import { EventEmitter } from "node:events";
export * from './backoff.js';

const path = require('node:path');
const { promisify } = require('node:util');

// How often a failed job is tried again.
const MAX_RETRIES = 5;

let running = 0, stopped = false;
export const DEFAULTS = {
  concurrency: 4,
  onIdle: () => {},
  onError(error) {
    console.error(error);
  },
};

/** Doubles the delay after each attempt. */
export function backoff(attempt) {
  const delay = 2 ** attempt;
  return Math.min(delay, 60);
}

export default async function main(argv) {
  const queue = new Queue(argv);
  await queue.drain();
}

// Yields every job that waits.
function* waiting(jobs) {
  for (const job of jobs) yield job;
}

async function* stream(source) {
  yield* source;
}

const add = (a, b) => a + b;

const runLater = async function (job) {
  const later = () => job.run();
  function inner() {
    return later();
  }
  return inner();
};

/** Keeps jobs in order. */
@observable
export class Queue extends EventEmitter {
  static instances = 0;
  #jobs = [];

  // Called when a job is done.
  handleDone = (job) => {
    this.emit('done', job);
  };

  constructor(options) {
    super();
    this.options = { ...DEFAULTS, ...options };
  }

  get size() {
    return this.#jobs.length;
  }

  static async open(file) {
    const text = await promisify(fs.readFile)(file);
    return new Queue(JSON.parse(text));
  }

  *[Symbol.iterator]() {
    yield* this.#jobs;
  }

  #insert(job) {
    class Entry {
      touch() {}
    }
    this.#jobs.push(new Entry(job));
  }
}

const Worker = class extends Queue {};

function Legacy() {}

Legacy.prototype.start = function () {
  return path.join('a', 'b');
};

Legacy.create = () => new Legacy();

exports.parse = function parse(text) {
  return tag`x${text}`;
};

var api = module.exports = function createApi() {
  import('./lazy.js');
};

const Button = ({ label }) => <Icon.Round name={label}><Text /></Icon.Round>;

const total = add(1, 2); // not a comment of what follows
export { Worker, Button, total, api };
