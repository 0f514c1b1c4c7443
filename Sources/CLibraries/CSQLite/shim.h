// SQLite for Swift: functions for what the library offers only by a macro that is a cast.
#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>

// Binds bytes that SQLite copies.
static inline int chatbot_sqlite3_bind_text(sqlite3_stmt *statement, int index, const char *bytes, unsigned long long count) {
  return sqlite3_bind_text64(statement, index, bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int chatbot_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, unsigned long long count) {
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

#endif
