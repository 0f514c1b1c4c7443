/// `a=ssrc-group`: RTP sources that belong together (RFC 5576, 4.2).
package struct SourceGroup: Sendable, Hashable {
  /// `FID`: a stream, then its retransmissions (RFC 4588). `SIM`: the layers of a simulcast. `FEC-FR`: a stream, then
  /// its repair.
  package var semantics: String
  package var sources: [UInt32]

  package init(semantics: String, sources: [UInt32]) {
    self.semantics = semantics
    self.sources = sources
  }

  /// Reads for example `FID 689647705 3166182352`; nil if a source is no number.
  package init?(parsing text: String) {
    let fields = text.fields()
    guard let first = fields.first else { return nil }
    semantics = first
    sources = fields.dropFirst().compactMap { UInt32($0) }
    guard sources.count == fields.count - 1 else { return nil }
  }

  package var text: String { ([semantics] + sources.map { String($0) }).joined(separator: " ") }
}
