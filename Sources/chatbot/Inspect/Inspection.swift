import CallCheck
import FileSource
import Logging
import Media
import Recorder

/// One inspection: finds recordings, has them judged as fast as they can be decoded, and says what was requested.
struct Inspection {
  /// Recordings that are judged at once: each takes the memory of its decoders.
  static let maximumPeers = 100

  let files: [String]
  /// How many peers are expected; nil for as many as there are.
  let peers: Int?
  let rules: RuleOptions
  let console: Console
  let log: Logger

  /// What it came to.
  struct Outcome {
    var report: CheckReport
    /// What was named and could not be read, a sentence each.
    var problems: [String]
    /// What a user may want to know besides, a sentence each.
    var remarks: [String]
  }

  /// - Throws: ``CallFailure`` when there is nothing to judge.
  func run() throws -> Outcome {
    try rules.outputs.prepare()
    let baseline = try rules.baselineReport()
    // Each file stays open to its end.
    FileDescriptorLimit.allowMany()
    var (inspected, problems, remarks) = try open()
    let layout = lay(&inspected)
    if layout.calls > 1 {
      remarks.append("These are recordings of \(layout.calls) calls; each of them is judged from its own beginning.")
    }
    let judged = try InspectionJudging(
      peers: inspected, room: room(of: inspected), expectation: rules.expectation(peers: peers ?? inspected.count),
      rules: rules.rules(), wantsPeers: peers != nil, console: console
    ).run()
    problems += judged.problems
    var report = judged.report
    if layout.calls == 1 { report.start = layout.start.map(RecordedClock.text) }
    for peer in inspected {
      guard let position = report.peers.firstIndex(where: { $0.id == peer.id.text }) else { continue }
      report.peers[position].recordings = peer.paths
    }
    if let baseline { report.comparison = report.compared(with: baseline) }
    return Outcome(report: report, problems: problems, remarks: remarks)
  }

  /// Says what it came to: the verdict first, so that it has been told whatever cannot be written then.
  ///
  /// - Throws: ``CallFailure`` when a report could not be written.
  func tell(_ outcome: Outcome) throws(CallFailure) {
    let outputs = rules.outputs
    for remark in outcome.remarks { console.say(remark) }
    console.verdict(outcome.report, outputs: outputs)
    for problem in outcome.problems { console.report(problem) }
    let page = outputs.html.map { InspectionPage(path: $0).content(of: outcome.report) }
    try outputs.write(outcome.report, page: page, on: console)
  }

  /// Finds and opens everything.
  private func open() throws(CallFailure) -> (peers: [InspectedPeer], problems: [String], remarks: [String]) {
    var search = RecordingSearch()
    for file in files { search.add(file) }
    for output in rules.outputs.files where search.holds(output) {
      throw CallFailure(.usage, "“\(RecordedName.shown(output))” is to be inspected, so nothing is written over it.")
    }
    let found = search.recordings
    guard found.count <= Self.maximumPeers else {
      throw CallFailure(
        .usage, "These are \(found.count) recordings, and \(Self.maximumPeers) are the most that are inspected at once."
      )
    }
    var opener = RecordingOpener()
    var peers: [InspectedPeer] = []
    for (index, recording) in found.enumerated() {
      if console.isTerminal { console.show(lines: ["inspect: opening recording \(index + 1) of \(found.count)"]) }
      if let peer = opener.open(recording) { peers.append(peer) }
    }
    console.clearStatus()
    let problems = search.problems + opener.problems
    if peers.isEmpty {
      let sentence =
        problems.isEmpty ? "There is no frame in what is to be inspected." : problems.joined(separator: " ")
      throw CallFailure(.fileNotPlayable, sentence)
    }
    for peer in peers {
      let files = peer.recording.files.map(\.path).joined(separator: " ")
      log.info("opened", metadata: ["peer": "\(peer.id)", "files": "\(files)"])
    }
    return (peers, problems, search.remarks + opener.remarks + missing(of: peers))
  }

  /// What nobody sent, although the rules expect it.
  private func missing(of peers: [InspectedPeer]) -> [String] {
    func has(_ kind: MediaKind) -> Bool { peers.contains { $0.tracks.contains { $0.kind == kind } } }
    var remarks: [String] = []
    if !rules.noVideo, !has(.video) {
      remarks.append("There are no frames in what is inspected; with --no-video none are expected.")
    }
    if !rules.noAudio, !has(.audio) {
      remarks.append("There is no audio in what is inspected; with --no-audio none is expected.")
    }
    return remarks
  }

  /// Lays the recordings side by side.
  private func lay(_ peers: inout [InspectedPeer]) -> InspectionLayout {
    let units = Int64(FileTime.rate / 1_000)
    let layout = InspectionLayout(
      peers.map { .init(room: $0.manifest?.room ?? "", began: $0.began, length: $0.estimatedEnd / units) })
    for index in peers.indices { peers[index].offset = layout.offsets[index] * units }
    return layout
  }

  /// The room of the recordings, or the name of what is inspected.
  private func room(of peers: [InspectedPeer]) -> String {
    let rooms = peers.compactMap { $0.manifest?.room }
    var names: [String] = []
    for room in rooms where !names.contains(room) { names.append(room) }
    if !names.isEmpty { return names.joined(separator: ", ") }
    return peers.count == 1 ? peers[0].recording.fileName : "\(peers.count) files"
  }
}
