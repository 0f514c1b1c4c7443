import CallCheck
import CallReport
import FileSource
import Logging
import Media
import Recorder

/// One inspection: finds recordings, judges them as fast as they can be decoded, and writes the requested reports.
struct Inspection {
  /// The maximum number of recordings judged at once: each needs memory for its decoders.
  static let maximumPeers = 100

  let files: [String]
  /// The expected number of peers, or nil for as many as are found.
  let peers: Int?
  let rules: RuleOptions
  let console: Console
  let log: Logger

  /// The result of an inspection.
  struct Outcome {
    var report: CheckReport
    /// Files that were named and could not be read, a sentence each.
    var problems: [String]
    /// Further remarks for the user, a sentence each.
    var remarks: [String]
  }

  /// - Throws: ``CallFailure`` if there is nothing to judge.
  func run() throws -> Outcome {
    try rules.outputs.prepare()
    let baseline = try rules.baselineReport()
    // Each file stays open until the end.
    FileDescriptorLimit.allowMany()
    var (recordings, problems, remarks) = try open()
    let layout = lay(&recordings)
    if layout.calls > 1 {
      remarks.append("The recordings are from \(layout.calls) calls; each call is judged from its own start.")
    }
    let judged = try InspectionJudging(
      recordings: recordings, room: room(of: recordings),
      expectation: rules.expectation(peers: peers ?? recordings.participants.count),
      rules: rules.rules(), wantsPeers: peers != nil, console: console
    ).run()
    problems += judged.problems
    var report = judged.report
    if layout.calls == 1 { report.start = layout.start.map(RecordedClock.text) }
    for index in recordings.participants.joined() {
      guard let position = report.peers.firstIndex(where: { $0.id == recordings[index].id.text }) else { continue }
      report.peers[position].recordings += recordings[index].paths
    }
    if let baseline { report.comparison = report.compared(with: baseline) }
    return Outcome(report: report, problems: problems, remarks: remarks)
  }

  /// Prints the verdict and the remarks and writes the reports; the verdict first, so that it is shown even if a report
  /// cannot be written.
  ///
  /// - Throws: ``CallFailure`` if a report could not be written.
  func report(_ outcome: Outcome) throws(CallFailure) {
    let outputs = rules.outputs
    for remark in outcome.remarks { console.say(remark) }
    console.verdict(outcome.report, outputs: outputs)
    for problem in outcome.problems { console.report(problem) }
    let page = outputs.html.map { InspectionPage(path: $0).content(of: outcome.report) }
    try outputs.write(outcome.report, page: page, on: console)
  }

  /// Finds and opens all recordings.
  private func open() throws(CallFailure) -> (
    recordings: [InspectedRecording], problems: [String], remarks: [String]
  ) {
    var search = RecordingSearch()
    for file in files { search.add(file) }
    for output in rules.outputs.files where search.holds(output) {
      throw CallFailure(.usage, "“\(RecordedName.shown(output))” is an inspected file, so it is not overwritten.")
    }
    let found = search.recordings
    guard found.count <= Self.maximumPeers else {
      throw CallFailure(
        .usage, "There are \(found.count) recordings, but at most \(Self.maximumPeers) can be inspected at once."
      )
    }
    var opener = RecordingOpener()
    var recordings: [InspectedRecording] = []
    for (index, recording) in found.enumerated() {
      if console.isTerminal { console.show(lines: ["inspect: opening recording \(index + 1) of \(found.count)"]) }
      if let recording = opener.open(recording) { recordings.append(recording) }
    }
    console.clearStatus()
    let problems = search.problems + opener.problems
    if recordings.isEmpty {
      let sentence =
        problems.isEmpty ? "The files to inspect contain no frame." : problems.joined(separator: " ")
      throw CallFailure(.fileNotPlayable, sentence)
    }
    for recording in recordings {
      let files = recording.recording.files.map(\.path).joined(separator: " ")
      log.info("opened", metadata: ["user": "\(recording.id)", "files": "\(files)"])
    }
    return (recordings, problems, search.remarks + opener.remarks + missing(of: recordings))
  }

  /// Returns a remark for each kind of media that the rules expect and no peer sent.
  private func missing(of recordings: [InspectedRecording]) -> [String] {
    func has(_ kind: MediaKind) -> Bool { recordings.contains { $0.tracks.contains { $0.kind == kind } } }
    var remarks: [String] = []
    if !rules.noVideo, !has(.video) {
      remarks.append("The inspected files contain no video; with --no-video none is expected.")
    }
    if !rules.noAudio, !has(.audio) {
      remarks.append("The inspected files contain no audio; with --no-audio none is expected.")
    }
    return remarks
  }

  /// Aligns the recordings on one timeline.
  private func lay(_ recordings: inout [InspectedRecording]) -> InspectionLayout {
    let units = Int64(MediaTimebase.rate / 1_000)
    let layout = InspectionLayout(
      recordings.map { recording in
        .init(
          room: recording.manifest?.room ?? "", began: recording.began, length: recording.estimatedEnd / units,
          session: recording.session)
      })
    for index in recordings.indices { recordings[index].offset = layout.offsets[index] * units }
    return layout
  }

  /// The rooms of the recordings, or a name for the inspected files.
  private func room(of recordings: [InspectedRecording]) -> String {
    let rooms = recordings.compactMap { $0.manifest?.room }
    var names: [String] = []
    for room in rooms where !names.contains(room) { names.append(room) }
    if !names.isEmpty { return names.joined(separator: ", ") }
    return recordings.count == 1 ? recordings[0].recording.fileName : "\(recordings.count) files"
  }
}

/// The media files of an inspection for the HTML page: small files are embedded, the others are linked.
struct InspectionPage {
  /// The path of the page.
  let path: String

  func content(of report: CheckReport) -> (report: CheckReport, recordings: [String: HTMLReport.Recording]) {
    var recordings: [String: HTMLReport.Recording] = [:]
    var left = HTMLReport.maximumTotalEmbedded
    // A WebM file has both tracks, so WebM files go first if there is not room for all.
    let files = report.peers.flatMap(\.recordings)
    let webMFiles = files.filter { $0.hasSuffix(".webm") }
    for file in webMFiles + files where recordings[file] == nil {
      let isPlayable = !file.hasSuffix(".ivf")
      if isPlayable, let bytes = RecordingStore.bytes(of: file, most: min(left, HTMLReport.maximumEmbedded)) {
        left -= bytes.count
        recordings[file] = .bytes(bytes)
      } else {
        recordings[file] = .file(RecordingStore.path(of: file, from: path))
      }
    }
    return (report, recordings)
  }
}
