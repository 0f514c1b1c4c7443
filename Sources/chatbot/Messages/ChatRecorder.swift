import DataMessages
import FoundationEssentials
import Glibc
import Logging
import Media
import Recorder

/// Writes the chat of a room beside the recording of each user: `USER.chat.jsonl`, and `USER.vtt` with the same messages
/// as subtitles. Their times are those of the recording.
///
/// A message waits until the time axis of a recording is known. One that is up to 5 s older than the first frame is at
/// time 0.
actor ChatRecorder {
  /// How many of the newest messages wait.
  private static let maximumMessages = 4_096
  /// How long a message waits.
  private static let maximumAge = 60.0
  /// How much older than a recording a message in it may be, in seconds.
  private static let leadTime = 5.0
  private static let interval = Duration.milliseconds(500)

  private struct Message {
    var number: Int
    var text: String
    var sender: String
    var name: String?
    var direction: ChatEntry.Direction
    /// The user with whom it was exchanged, if it is only for their files.
    var user: ParticipantID?
    var secondsSince1970: Double
  }

  private struct Files {
    var base: String
    var subtitles = WebVTTWriter()
    var isNew = true
    /// The number of the next message.
    var next = 0
  }

  private let path: String
  private let folder: Int32
  private let recorder: RecorderGroup
  private let ownID: @Sendable () -> String
  private let log: Logger
  private var messages: [Message] = []
  private var nextNumber = 0
  private var files: [ParticipantID: Files] = [:]
  private var hasFailed = false
  /// The names of closed recordings, which the recorder may still list for a moment.
  private var closed: [String] = []
  private static let maximumClosed = 64

  init(
    _ path: String, recorder: RecorderGroup, ownID: @escaping @Sendable () -> String, log: Logger
  ) throws(CallFailure) {
    self.path = path
    self.recorder = recorder
    self.ownID = ownID
    self.log = log
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder < 0 { throw CallFailure(.disk, FileTransferError("opened", path).description) }
  }

  deinit { close(folder) }

  /// Adds a message to the files of all users who are recorded now, or of one of them.
  ///
  /// - Parameter sender: nil for a message of ours.
  func add(
    _ text: String, from sender: ParticipantID?, name: String?, direction: ChatEntry.Direction,
    only user: ParticipantID?
  ) {
    let now = Date.now.timeIntervalSince1970
    messages.append(
      Message(
        number: nextNumber, text: text, sender: sender?.text ?? ownID(), name: name, direction: direction, user: user,
        secondsSince1970: now))
    nextNumber += 1
    let oldest = now - Self.maximumAge
    if messages.count > Self.maximumMessages || (messages.first?.secondsSince1970 ?? now) < oldest {
      messages.removeFirst(max(0, messages.count - Self.maximumMessages))
      messages.removeAll { $0.secondsSince1970 < oldest }
    }
  }

  /// Writes messages until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      writeToGrowing()
      try? await MediaThread.loop.sleep(for: Self.interval)
    }
  }

  private func writeToGrowing() {
    if messages.isEmpty { return }
    let (now, moment) = (Date.now.timeIntervalSince1970, ContinuousClock.now)
    for status in recorder.status() {
      guard let base = status.base, let start = status.start, !closed.contains(base) else { continue }
      write(beside: base, of: status.participant, start: now - (moment - start) / .seconds(1))
    }
  }

  /// Writes what is left for a recording that is closed.
  func finish(_ summary: RecordingSummary) {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    if let start = try? Date(summary.manifest.start, strategy: style) {
      write(beside: summary.base, of: summary.participant, start: start.timeIntervalSince1970)
    }
    files[summary.participant] = nil
    closed.append(summary.base)
    if closed.count > Self.maximumClosed { closed.removeFirst() }
  }

  private func write(beside base: String, of user: ParticipantID, start: Double) {
    var file = files[user].flatMap { $0.base == base ? $0 : nil } ?? Files(base: base)
    for message in messages
    where message.number >= file.next && (message.user == nil || message.user == user)
      && message.secondsSince1970 >= start - Self.leadTime
    {
      let entry = ChatEntry(
        time: max(0, message.secondsSince1970 - start), secondsSince1970: message.secondsSince1970,
        sender: message.sender, senderName: message.name, text: message.text, direction: message.direction)
      append(entry, to: &file, of: user)
    }
    file.next = nextNumber
    files[user] = file
  }

  private func append(_ entry: ChatEntry, to file: inout Files, of user: ParticipantID) {
    let cue = file.subtitles.text(appending: entry)
    // The recording's names are new, so a file that exists belongs to something else.
    let flags = file.isNew ? O_EXCL : 0
    file.isNew = false
    do {
      let json = Data(entry.jsonLine.utf8)
      try AppendedText.append(json, to: "\(file.base).chat.jsonl", in: folder, path: path, flags: flags)
      try AppendedText.append(Data(cue.utf8), to: "\(file.base).vtt", in: folder, path: path, flags: flags)
    } catch {
      if !hasFailed { log.error("Chat is not recorded: \(error)", metadata: ["user": "\(user)"]) }
      hasFailed = true
    }
  }
}
