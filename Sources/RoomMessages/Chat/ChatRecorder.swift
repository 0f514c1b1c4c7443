import DataMessages
import FoundationEssentials
import Glibc
package import Logging
import Media
package import NIOCore
package import Recorder

/// Writes the chat of a room beside each recording of a user: `USER.chat.jsonl`, and `USER.vtt` with the same messages as
/// subtitles. Their times are those of the recording.
///
/// A message of a user who is paused is not written, and none is written beside the recording of a paused user.
///
/// A message waits until the time axis of a recording is known. One that is up to 5 s older than the first frame is at
/// time 0.
///
/// Limits: the newest 4,096 messages and 4 MiB wait, for 60 s; the two files of a recording have 32 MiB together.
package actor ChatRecorder {
  /// How many of the newest messages wait, and their bytes.
  static let maximumMessages = 4_096
  static let maximumWaitingBytes = 4 << 20
  /// How long a message waits.
  private static let maximumAge = 60.0
  /// What is written for one recording.
  static let maximumFileBytes = 32 << 20
  /// How much older than a recording a message in it may be, in seconds.
  private static let leadTime = 5.0
  private static let interval = Duration.milliseconds(500)

  private struct Message {
    var number: Int
    /// Shortened: what waits is what is written.
    var text: UntrustedText
    var sender: String
    var name: String?
    var direction: ChatEntry.Direction
    /// The user with whom it was exchanged, if it is only for their files.
    var user: ParticipantID?
    /// The users of whom nothing was recorded when it was exchanged.
    var paused: Set<ParticipantID>
    var secondsSince1970: Double

    var cost: Int { ChatEntry.cost(of: text, sender: sender, name: name) }
  }

  private struct Files {
    var subtitles = WebVTTWriter()
    var isNew = true
    /// The number of the next message.
    var next = 0
    var bytes = 0
    var isFull = false
  }

  private let path: String
  private let folder: Int32
  private let recorder: RecorderGroup
  private let ownID: @Sendable () -> String
  private let loop: any EventLoop
  private let log: Logger
  private var messages: [Message] = []
  /// The bytes of the messages that wait.
  private(set) var waitingBytes = 0
  private var nextNumber = 0
  /// The files by the name of their recording.
  private var files: [String: Files] = [:]
  private var hasFailed = false
  /// The names of closed recordings, which the recorder may still list for a moment.
  private var closed: [String] = []
  private static let maximumClosed = 64

  /// - Parameters:
  ///   - path: the folder of the recordings.
  ///   - ownID: returns our id in the room.
  ///   - loop: its clock says when to write.
  package init(
    _ path: String, recorder: RecorderGroup, ownID: @escaping @Sendable () -> String, on loop: any EventLoop,
    log: Logger
  ) throws(FileTransferError) {
    self.path = path
    self.recorder = recorder
    self.ownID = ownID
    self.loop = loop
    self.log = log
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder < 0 { throw FileTransferError("opened", path) }
  }

  deinit { close(folder) }

  /// Whether nothing is recorded of a user at the moment, so that what they send is neither written nor logged.
  nonisolated func isPaused(_ user: ParticipantID) -> Bool { recorder.isPaused(user) }

  /// Adds a message to the files of all users who are recorded now, or of one of them.
  ///
  /// - Parameter sender: nil for a message of ours.
  func add(
    _ text: UntrustedText, from sender: ParticipantID?, name: String?, direction: ChatEntry.Direction,
    only user: ParticipantID?
  ) {
    if let sender, recorder.isPaused(sender) { return }
    let now = recorder.session.secondsSince1970(at: .now)
    let message = Message(
      number: nextNumber, text: ChatEntry.shortened(text), sender: sender?.text ?? ownID(), name: name,
      direction: direction, user: user, paused: recorder.pausedParticipants, secondsSince1970: now)
    messages.append(message)
    nextNumber += 1
    waitingBytes += message.cost
    removeOld(now: now)
  }

  private func removeOld(now: Double) {
    var surplus = max(0, messages.count - Self.maximumMessages)
    var bytes = messages.prefix(surplus).reduce(waitingBytes) { $0 - $1.cost }
    while surplus < messages.count,
      bytes > Self.maximumWaitingBytes || messages[surplus].secondsSince1970 < now - Self.maximumAge
    {
      bytes -= messages[surplus].cost
      surplus += 1
    }
    messages.removeFirst(surplus)
    waitingBytes = bytes
  }

  /// Writes messages until the task is cancelled.
  package func run() async {
    while !Task.isCancelled {
      writeToGrowing()
      try? await loop.sleep(for: Self.interval)
    }
  }

  private func writeToGrowing() {
    if messages.isEmpty { return }
    removeOld(now: recorder.session.secondsSince1970(at: .now))
    for status in recorder.status() {
      guard let base = status.base, let start = status.start, !closed.contains(base) else { continue }
      write(beside: base, of: status.participant, start: recorder.session.secondsSince1970(at: start))
    }
  }

  /// Writes what is left for a recording that is closed.
  package func finish(_ summary: RecordingSummary) {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    if let start = try? Date(summary.manifest.start, strategy: style) {
      write(beside: summary.base, of: summary.participant, start: start.timeIntervalSince1970)
    }
    files[summary.base] = nil
    closed.append(summary.base)
    if closed.count > Self.maximumClosed { closed.removeFirst() }
  }

  private func write(beside base: String, of user: ParticipantID, start: Double) {
    var file = files[base] ?? Files()
    for message in messages
    where message.number >= file.next && (message.user == nil || message.user == user)
      && !message.paused.contains(user) && message.secondsSince1970 >= start - Self.leadTime
    {
      let entry = ChatEntry(
        time: max(0, message.secondsSince1970 - start), secondsSince1970: message.secondsSince1970,
        sender: message.sender, senderName: message.name, text: message.text, direction: message.direction)
      append(entry, to: &file, beside: base, of: user)
    }
    file.next = nextNumber
    files[base] = file
  }

  private func append(_ entry: ChatEntry, to file: inout Files, beside base: String, of user: ParticipantID) {
    if file.isFull { return }
    let json = Data(entry.jsonLine.utf8)
    let cue = Data(file.subtitles.text(appending: entry).utf8)
    guard file.bytes + json.count + cue.count <= Self.maximumFileBytes else {
      file.isFull = true
      log.warning(
        "The chat files of a recording have \(file.bytes) bytes; further messages are not in them.",
        metadata: ["user": "\(user)"])
      return
    }
    file.bytes += json.count + cue.count
    // The recording's names are new, so a file that exists belongs to something else.
    let flags = file.isNew ? O_EXCL : 0
    file.isNew = false
    do {
      try AppendedText.append(json, to: "\(base).chat.jsonl", in: folder, path: path, flags: flags)
      try AppendedText.append(cue, to: "\(base).vtt", in: folder, path: path, flags: flags)
    } catch {
      if !hasFailed { log.error("Chat is not recorded: \(error)", metadata: ["user": "\(user)"]) }
      hasFailed = true
    }
  }
}
