internal import JobProtocol
internal import Media
internal import ObjectStore
internal import SQLStore

/// Says what the files of an attempt are, by its manifests and its journal. Pure.
struct FileDescriber: Sendable {
  private struct Entry {
    var manifest: RecordedManifest
    var file: RecordedManifest.File
  }

  /// Ten years, in milliseconds.
  private static let maximumDuration: Int64 = 315_360_000_000

  private let job: JobID
  private let attempt: Int64
  private var media: [UntrustedText: Entry] = [:]
  private var manifests: [UntrustedText: RecordedManifest] = [:]
  private let journal: RecordedFolder.Journal

  init(
    journal: RecordedFolder.Journal, manifests: [(file: RecordedFolder.File, manifest: RecordedManifest)], job: JobID,
    attempt: Int64
  ) {
    self.journal = journal
    self.job = job
    self.attempt = attempt
    for (file, manifest) in manifests {
      self.manifests[UntrustedText(file.name)] = manifest
      for listed in manifest.files { media[UntrustedText(listed.name)] = Entry(manifest: manifest, file: listed) }
    }
  }

  /// The names of all files that a manifest or the journal lists.
  var names: Set<UntrustedText> { Set(media.keys).union(journal.closedFiles.keys) }

  /// Returns the row of a file, without object, size and digest.
  func describe(_ name: String) -> FileRecord {
    var record = FileRecord(job: job, attempt: attempt, name: name, object: "", kind: "other", bytes: 0, sha256: "")
    let key = UntrustedText(name)
    let closed = journal.closedFiles[key]
    if let ending = MediaEnding(fileName: name), media[key] != nil || closed?.kind == "media" {
      record.kind = ending.rawValue
    } else if manifests[key] != nil {
      record.kind = "manifest"
    } else if let kind = closed.flatMap({ JournalEvent.ClosedFile.Kind(rawValue: $0.kind) }), kind != .media {
      record.kind = kind.rawValue
    }
    if let entry = media[key] {
      record.user = entry.manifest.user
      record.stream = entry.manifest.stream
      record.segment = entry.file.segment
      record.start = entry.manifest.start + entry.file.start
      record.duration = entry.file.duration
    } else if let manifest = manifests[key] {
      record.user = manifest.user
      record.stream = manifest.stream
    } else if let closed {
      record.user = closed.user
      record.stream = closed.stream.map(Int64.init)
      record.segment = closed.segment.map(Int64.init)
      // A journal may have any number, and descriptions add them.
      record.start = closed.start.map { UTCTime(milliseconds: $0).milliseconds }
      record.duration = closed.duration.map { min(max($0, 0), Self.maximumDuration) }
    }
    return record
  }
}
