/// Uploads in parts that have begun. The keys are those of objects.
extension JobStore {
  /// Returns the upload of an object that has begun and not ended; nil if there is none.
  package func upload(of object: String) async throws -> String? {
    try await connection.execute("SELECT upload FROM uploads WHERE object = $1", [.text(object)]).first?.text("upload")
  }

  /// Notes an upload that begins. It replaces the one before.
  package func noteUpload(_ upload: String, of object: String) async throws {
    try await connection.execute(
      """
      INSERT INTO uploads (object, upload, begun_at) VALUES ($1, $2, now_ms())
      ON CONFLICT (object) DO UPDATE SET upload = excluded.upload, begun_at = excluded.begun_at
      """, [.text(object), .text(upload)])
  }

  /// Returns the keys of objects below a prefix of which an upload has begun and not ended.
  package func uploads(below prefix: String) async throws -> [String] {
    let first = "\(prefix)/"
    // A pattern matches more than the prefix, since keys have underscores; no order of texts is the same in both databases.
    let rows = try await connection.execute(
      "SELECT object FROM uploads WHERE object LIKE $1 ORDER BY object", [.text("\(first)%")])
    return try rows.map { try $0.text("object") }.filter { $0.utf8.starts(with: first.utf8) }
  }

  /// Forgets an upload, if there is one.
  package func forgetUpload(of object: String) async throws {
    try await connection.execute("DELETE FROM uploads WHERE object = $1", [.text(object)])
  }
}
