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

  /// Forgets an upload, if there is one.
  package func forgetUpload(of object: String) async throws {
    try await connection.execute("DELETE FROM uploads WHERE object = $1", [.text(object)])
  }
}
