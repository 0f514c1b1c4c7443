/// A stored document.
package struct FirestoreDocument: Sendable, Hashable {
  package let path: DocumentPath
  package let fields: [String: FirestoreValue]
  /// When the server last changed it.
  package let updateTime: FirestoreTimestamp

  package init(path: DocumentPath, fields: [String: FirestoreValue], updateTime: FirestoreTimestamp) {
    self.path = path
    self.fields = fields
    self.updateTime = updateTime
  }
}
