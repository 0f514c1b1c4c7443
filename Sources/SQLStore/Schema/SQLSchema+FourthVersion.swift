extension SQLSchema {
  /// Uploads that go on after the end of the service.
  static let fourthVersion = [
    // An upload in parts that has begun and not ended: `upload` is a text that only the object store understands.
    """
    CREATE TABLE uploads (
      object TEXT PRIMARY KEY,
      upload TEXT NOT NULL,
      begun_at BIGINT NOT NULL
    )
    """
  ]
}
