public import CallCheck
public import CallReport
import FileSource
public import Media
import Recorder

/// Finished recordings, opened to be judged by the rules of a call.
///
/// A recording of the module `Recorder` is one peer, with all its files: its manifest says what was lost and why. The
/// recordings of a user's further streams are streams of the same peer. Any other WebM, Ogg or IVF file is a peer of its
/// own. Recordings of one call are aligned as they were made.
///
/// Each file stays open until the inspection is released, so a process needs a file descriptor for each.
public struct RecordingInspection: Sendable {
  /// The maximum number of recordings judged at once: each needs memory for its decoders.
  public static let maximumPeers = 100

  /// A recording that was opened.
  public struct Recording: Sendable, Hashable {
    /// The peer of the report that it belongs to.
    public var participant: ParticipantID
    /// The paths of its media files, in the order of their segments.
    public var files: [String]
  }

  /// What the recordings are judged by.
  public struct Settings: Sendable {
    /// How many peers must be there at the same time, which is a rule then; nil for as many as are found.
    public var peers: Int?
    /// Whether each peer is expected to have sent audio.
    public var audio: Bool
    /// Whether each peer is expected to have sent video.
    public var video: Bool
    /// Whether the peers are expected to have sent the test pattern. A recording does not say what was sent to a peer,
    /// so returned media cannot be judged.
    public var pattern: CheckExpectation.Pattern
    public var rules: RuleList

    public init(
      peers: Int? = nil, audio: Bool = true, video: Bool = true, pattern: CheckExpectation.Pattern = .none,
      rules: RuleList = .defaults
    ) {
      self.peers = peers
      self.audio = audio
      self.video = video
      self.pattern = pattern
      self.rules = rules
    }

    fileprivate func expectation(found: Int) -> CheckExpectation {
      CheckExpectation(peers: peers ?? found, audio: audio, video: video, pattern: pattern)
    }
  }

  /// How far an inspection is.
  public enum Progress: Sendable, Hashable {
    /// The recording with this number, from 1, is being opened and read through.
    case opening(Int, of: Int)
    /// Frames up to this time have been judged, on a timeline that is expected to end at `end`.
    case judging(Duration, end: Duration)
  }

  /// The result of an inspection.
  public struct Outcome: Sendable {
    /// The same recordings and settings give the same report.
    public var report: CheckReport
    /// Files that could not be read, or not to their end, a sentence each.
    public var problems: [String]
    /// Further remarks for the user, a sentence each.
    public var remarks: [String]
  }

  /// Why there is nothing to judge, as a sentence for the user.
  public enum OpenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A file that is to be written is one of the inspected files.
    case outputIsInspected(path: String)
    /// There are this many recordings, more than ``RecordingInspection/maximumPeers``.
    case tooManyRecordings(Int)
    /// No recording can be read, with a sentence for each file that cannot.
    case noRecordings(problems: [String])

    public var description: String {
      switch self {
      case .outputIsInspected(let path):
        "“\(RecordedName.shown(path))” is an inspected file, so it is not overwritten."
      case .tooManyRecordings(let count):
        "There are \(count) recordings, but at most \(RecordingInspection.maximumPeers) can be inspected at once."
      case .noRecordings(let problems):
        problems.isEmpty ? "The files to inspect contain no frame." : problems.joined(separator: " ")
      }
    }
  }

  private let opened: [InspectedRecording]
  private let layout: InspectionLayout
  private let problems: [String]
  private let remarks: [String]

  /// Finds and opens all recordings. It blocks while it reads each file once, in bounded memory.
  ///
  /// - Parameters:
  ///   - paths: Media files, manifests (for all files of a recording), and folders (for all recordings in them).
  ///   - outputs: The files that will be written; none of them may be inspected.
  ///   - progress: Called before each recording is opened.
  public init(
    opening paths: [String], outputs: [String] = [], progress: (Progress) -> Void = { _ in }
  ) throws(OpenError) {
    var search = RecordingSearch()
    for path in paths { search.add(path) }
    for output in outputs where search.holds(output) { throw .outputIsInspected(path: output) }
    let found = search.recordings
    guard found.count <= Self.maximumPeers else { throw .tooManyRecordings(found.count) }
    var opener = RecordingOpener()
    var recordings: [InspectedRecording] = []
    for (index, recording) in found.enumerated() {
      progress(.opening(index + 1, of: found.count))
      if let recording = opener.open(recording) { recordings.append(recording) }
    }
    let problems = search.problems + opener.problems
    if recordings.isEmpty { throw .noRecordings(problems: problems) }
    layout = InspectionLayout(aligning: &recordings)
    opened = recordings
    self.problems = problems
    remarks = search.remarks + opener.remarks
  }

  /// The recordings that were opened, in the order in which they were made.
  public var recordings: [Recording] {
    opened.map { Recording(participant: $0.id, files: $0.recording.files.map(\.path)) }
  }

  /// Judges the recordings as fast as they can be decoded. It blocks until then.
  ///
  /// - Parameter progress: Called after each frame.
  public func run(_ settings: Settings = Settings(), progress: (Progress) -> Void = { _ in }) -> Outcome {
    let judged = InspectionJudging(
      recordings: opened, room: room, expectation: settings.expectation(found: opened.participants.count),
      rules: settings.rules, wantsPeers: settings.peers != nil
    ).run(progress: progress)
    var report = judged.report
    if layout.calls == 1 { report.start = layout.start.map(RecordedClock.text) }
    for index in opened.participants.joined() {
      guard let position = report.peers.firstIndex(where: { $0.id == opened[index].id.text }) else { continue }
      report.peers[position].recordings += opened[index].paths
    }
    return Outcome(
      report: report, problems: problems + judged.problems, remarks: remarks + missing(settings) + callRemarks)
  }

  /// A remark for each kind of media that is expected and that no peer sent.
  private func missing(_ settings: Settings) -> [String] {
    func has(_ kind: MediaKind) -> Bool { opened.contains { $0.tracks.contains { $0.kind == kind } } }
    var remarks: [String] = []
    if settings.video, !has(.video) {
      remarks.append("The inspected files contain no video; with --no-video none is expected.")
    }
    if settings.audio, !has(.audio) {
      remarks.append("The inspected files contain no audio; with --no-audio none is expected.")
    }
    return remarks
  }

  private var callRemarks: [String] {
    layout.calls > 1
      ? ["The recordings are from \(layout.calls) calls; each call is judged from its own start."] : []
  }

  /// The rooms of the recordings, or a name for the inspected files.
  private var room: String {
    let rooms = opened.compactMap { $0.manifest?.room }
    var names: [String] = []
    for room in rooms where !names.contains(room) { names.append(room) }
    if !names.isEmpty { return names.joined(separator: ", ") }
    return opened.count == 1 ? opened[0].recording.fileName : "\(opened.count) files"
  }
}

extension RecordingInspection.Outcome {
  /// The media files of the report for its page: small files are embedded, the others are linked.
  ///
  /// - Parameter path: The path that the page will have.
  public func recordings(forPageAt path: String) -> [String: HTMLReport.Recording] {
    // A file with video has both tracks, so these go first if there is not room for all.
    let files = report.peers.flatMap(\.recordings)
    return HTMLReport.recordings(files.filter(RecordedName.hasVideo) + files, forPageAt: path)
  }
}
