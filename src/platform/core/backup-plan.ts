/** Time of day (UTC) of a daily backup, or the interval between backups. */
export type BackupSchedule = { minuteOfDay: number } | { everySeconds: number };

/** Number of days, weeks and months for which the latest backup is kept. */
export interface BackupRetention {
  daily: number;
  weekly: number;
  monthly: number;
}

/** Parses `02:30` or `6h`; returns undefined for "". Throws an Error that describes the accepted values. */
export function readBackupSchedule(text: string): BackupSchedule | undefined {
  if (text === '') return undefined;
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hour !== undefined) return { minuteOfDay: 60 * Number(hour) + Number(minute) };
  const [, hours] = /^([1-9]\d{0,2})h$/.exec(text) ?? [];
  if (hours === undefined) throw new Error('a time of day in UTC such as 02:30, or hours between backups such as 6h');
  return { everySeconds: 3_600 * Number(hours) };
}

/**
 * Parses `daily=7,weekly=4,monthly=12`; returns undefined for "". Throws an Error that describes the accepted values.
 */
export function readBackupRetention(text: string): BackupRetention | undefined {
  if (text === '') return undefined;
  const retention = { daily: 0, weekly: 0, monthly: 0 };
  for (const entry of text.split(',')) {
    const [, name, count] = /^\s*(daily|weekly|monthly)=([1-9]\d{0,3})\s*$/.exec(entry) ?? [];
    if (name === undefined) throw new Error('how many backups are kept, such as daily=7,weekly=4,monthly=12');
    retention[name as keyof BackupRetention] = Number(count);
  }
  return retention;
}

/** Parses `7d` into seconds; returns undefined for "". Throws an Error that describes the accepted values. */
export function readRecoveryWindow(text: string): number | undefined {
  if (text === '') return undefined;
  const [, days] = /^([1-9]\d{0,2})d$/.exec(text) ?? [];
  if (days === undefined) throw new Error('how many days back a moment can be recovered, such as 7d');
  return 86_400 * Number(days);
}

/** Returns the last scheduled time, in seconds since the epoch. A backup is due if the latest one is older. */
export function backupDueSince(schedule: BackupSchedule, now: number): number {
  if ('everySeconds' in schedule) return now - schedule.everySeconds;
  const today = Math.floor(now / 86_400) * 86_400 + 60 * schedule.minuteOfDay;
  return today <= now ? today : today - 86_400;
}
