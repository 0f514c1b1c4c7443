internal import FoundationEssentials
internal import Glibc
internal import JobProtocol
internal import Media
internal import ObjectStore

/// The folder of a job process that has ended. It may have anything: names of users, links, pipes, broken files.
struct RecordedFolder: Sendable {
  /// A file below the folder of media.
  struct File: Sendable, Hashable {
    /// The path below the folder of media.
    var name: String
    var path: String

    /// The size in bytes; 0 if it cannot be read, or is no plain file.
    var size: Int64 { (try? SourceFile(path: path).size) ?? 0 }
  }

  /// What the journal says.
  struct Journal: Sendable, Hashable {
    var participants: [RecordedAttempt.Participant] = []
    var pauses: [RecordedAttempt.PauseStep] = []
    /// By their names.
    var closedFiles: [UntrustedText: JournalEvent.ClosedFile] = [:]
    var hasEnded = false
  }

  /// Folders in the folder of media are as deep as that at most.
  private static let maximumDepth = 4
  private static let maximumFiles = 100_000
  private static let maximumParticipants = 100_000

  let path: String
  /// The folder of media.
  let media: String

  /// - Parameter path: of the folder of a job process.
  init(path: String) {
    self.path = path
    media = "\(path)/\(JobFolder.media)"
  }

  /// - Parameter media: a folder that a recorder without a job writes.
  init(media: String) {
    path = media
    self.media = media
  }

  var log: File { File(name: JobFolder.log, path: "\(path)/\(JobFolder.log)") }

  /// The folder above it; nil for a path without one.
  var parent: String? { path.lastIndex(of: "/").map { String(path[..<$0]) } }

  var exists: Bool { access(path, F_OK) == 0 }

  /// Whether the process that the folder belongs to lives: it has locked a file.
  var isInUse: Bool {
    let lock = open("\(path)/\(JobFolder.lock)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard lock >= 0 else { return false }
    defer { close(lock) }
    if flock(lock, LOCK_SH | LOCK_NB) != 0 { return errno == EWOULDBLOCK }
    _ = flock(lock, LOCK_UN)
    return false
  }

  // MARK: Files

  /// The files below the folder of media, in order, also what is no plain file. Hidden files are those that the recorder had not
  /// finished: they are left out.
  func files() throws(ObjectStoreError) -> [File] {
    var files: [File] = []
    // A link is not followed.
    guard FolderListing.isFolder(media) else { return files }
    try collect("", depth: Self.maximumDepth, into: &files)
    return files
  }

  private func collect(_ prefix: String, depth: Int, into files: inout [File]) throws(ObjectStoreError) {
    for entry in try FolderListing.entries("\(media)/\(prefix)") where !entry.name.utf8.starts(with: ".".utf8) {
      let name = prefix + entry.name
      if entry.isFolder {
        if depth > 1 { try collect("\(name)/", depth: depth - 1, into: &files) }
      } else {
        guard files.count < Self.maximumFiles else {
          throw ObjectStoreError(.storage, "\(media.printable(utf8Bytes: 500)) has too many files.")
        }
        files.append(File(name: name, path: "\(media)/\(name)"))
      }
    }
  }

  /// Reads the manifests among files; what is none is left out.
  ///
  /// - Parameter whileTheyAreWritten: whether those count that a recorder writes at the moment; otherwise they are left out. A
  ///   recorder replaces a manifest as a whole.
  func manifests(
    _ files: [File], whileTheyAreWritten: Bool = false
  ) -> [(file: File, manifest: RecordedManifest)] {
    files.compactMap { file in
      guard !file.name.utf8.contains(UInt8(ascii: "/")), file.name.hasSuffix(".json"),
        let source = try? SourceFile(path: file.path, locks: !whileTheyAreWritten),
        let text = try? source.readAll(limit: RecordedManifest.maximumBytes),
        let manifest = RecordedManifest(parsing: text)
      else { return nil }
      return (file, manifest)
    }
  }

  /// Whether a recording was not finished: a manifest says so, or no finished one lists a media file.
  func needsRepair() throws(ObjectStoreError) -> Bool {
    let files = try files()
    let manifests = manifests(files)
    if manifests.contains(where: { !$0.manifest.finished }) { return true }
    let complete = Set(manifests.flatMap { $0.manifest.files.filter(\.complete).map { UntrustedText($0.name) } })
    return files.contains { MediaEnding(fileName: $0.name) != nil && !complete.contains(UntrustedText($0.name)) }
  }

  /// Whether another process writes one of the files: a repair that goes on after the service that started it has ended.
  func isBeingWritten() throws(ObjectStoreError) -> Bool {
    for file in try files() {
      do throws(ObjectStoreError) {
        _ = try SourceFile(path: file.path)
      } catch  where error.kind == .busy {
        return true
      } catch {}
    }
    return false
  }

  // MARK: The journal

  /// Reads the journal up to its end, or to a broken line.
  func journal() -> Journal {
    var journal = Journal()
    var joined: [UntrustedText: (name: String?, time: Int64)] = [:]
    func left(_ user: UntrustedText, at time: Int64?) {
      guard let stay = joined.removeValue(forKey: user), journal.participants.count < Self.maximumParticipants else {
        return
      }
      journal.participants.append(
        RecordedAttempt.Participant(id: user.string, name: stay.name, joined: stay.time, left: time))
    }
    read { entry in
      // It may be any number.
      let time = UTCTime(milliseconds: entry.time).milliseconds
      switch entry.event {
      case .started(let started):
        journal.pauses.append(RecordedAttempt.PauseStep(time: time, state: started.paused))
      case .participantJoined(let participant):
        let user = UntrustedText(participant.user)
        if joined[user] == nil, joined.count < Self.maximumParticipants {
          joined[user] = (participant.name, time)
        }
      case .participantLeft(let participant): left(UntrustedText(participant.user), at: time)
      case .fileClosed(let file): journal.closedFiles[UntrustedText(file.name)] = file
      case .paused(let change), .resumed(let change):
        let time = UTCTime(milliseconds: change.effectiveAt).milliseconds
        journal.pauses.append(RecordedAttempt.PauseStep(time: time, state: change.state))
      case .ended: journal.hasEnded = true
      case .joined, .stalled, .problem, .other: break
      }
    }
    for user in joined.keys.sorted() { left(user, at: nil) }
    // A time of the journal that goes back does not hide what comes after it.
    for index in journal.pauses.indices.dropFirst() {
      journal.pauses[index].time = max(journal.pauses[index].time, journal.pauses[index - 1].time)
    }
    return journal
  }

  private func read(_ receive: (JournalEntry) -> Void) {
    guard let file = try? SourceFile(path: "\(path)/\(JobFolder.journal)"),
      file.size <= 2 * Int64(JobFolder.maximumJournalBytes)
    else { return }
    var reader = JournalReader()
    _ = try? file.read { bytes in
      // Line by line: a broken one hides only what comes after it.
      var rest = bytes[...]
      while !rest.isEmpty {
        let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
        for entry in try reader.read(rest[..<end]) { receive(entry) }
        rest = rest[end...]
      }
    }
  }
}

/// The endings of the names of media files.
enum MediaEnding: String, Sendable, Hashable, CaseIterable {
  case webm, mkv, ogg, mka

  init?(fileName: String) {
    guard let ending = Self.allCases.first(where: { fileName.utf8.reversed().starts(with: ".\($0)".utf8.reversed()) })
    else { return nil }
    self = ending
  }
}
