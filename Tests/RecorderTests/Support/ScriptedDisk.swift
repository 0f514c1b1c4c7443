import Foundation
import Media
import Recorder
import Synchronization

/// A file system in memory that a test controls: it runs full, fails, writes less than requested, or hangs. It logs
/// every change with the time of the test, so that the files of any moment can be restored.
final class ScriptedDisk: FileSystem {
  /// A change that survives a crash of the program.
  enum Change: Sendable {
    case create(String, inode: Int)
    case write(inode: Int, offset: Int64, bytes: [UInt8])
    case truncate(inode: Int, size: Int64)
    case link(String, as: String)
    case rename(String, to: String)
    case remove(String)
  }

  struct Entry: Sendable {
    let time: MonotonicInstant
    let change: Change
  }

  /// A kind of call.
  enum Call: Hashable {
    case create, write, sync, rename, link
  }

  private struct State {
    var image = Image()
    var handles: [CInt: Int] = [:]
    /// The size up to which space is reserved, by inode.
    var reserved: [Int: Int] = [:]
    var nextHandle: CInt = 3
    var nextInode = 1
    var log: [Entry] = []
    var time = Script.beginning
    var capacity = Int.max
    var failures: [Call: Int32] = [:]
    var sparesManifests = false
    var mostAtOnce = Int.max
    var isHanging = false
    var hasHung = false

    /// Returns the bytes of the disk that a file uses.
    func space(of inode: Int) -> Int { max(image.inodes[inode]?.count ?? 0, reserved[inode] ?? 0) }

    /// Bytes that no file uses.
    var room: Int { max(0, capacity - image.inodes.keys.reduce(0) { $0 + space(of: $1) }) }

    func isSpared(_ handle: CInt) -> Bool {
      guard sparesManifests, let inode = handles[handle] else { return false }
      return image.names.contains { $0.value == inode && $0.key.contains(".json") }
    }

    mutating func note(_ change: Change) {
      image.apply(change)
      log.append(Entry(time: time, change: change))
      // A file without a name that is not open is deleted.
      let used = Set(image.names.values).union(handles.values)
      for inode in image.inodes.keys where !used.contains(inode) {
        image.inodes[inode] = nil
        reserved[inode] = nil
      }
    }
  }

  /// The files as they are at one moment.
  struct Image: Sendable {
    var names: [String: Int] = [:]
    var inodes: [Int: [UInt8]] = [:]

    /// The files by name.
    var files: [String: [UInt8]] { names.compactMapValues { inodes[$0] } }

    /// - Parameter torn: how many bytes of a write succeed; nil for all.
    mutating func apply(_ change: Change, torn: Int? = nil) {
      switch change {
      case .create(let name, let inode):
        names[name] = inode
        inodes[inode] = []
      case .write(let inode, let offset, let bytes):
        let bytes = bytes.prefix(torn ?? bytes.count)
        guard var content = inodes[inode], !bytes.isEmpty else { return }
        inodes[inode] = nil
        let end = Int(offset) + bytes.count
        if content.count < end { content += [UInt8](repeating: 0, count: end - content.count) }
        content.replaceSubrange(Int(offset)..<end, with: bytes)
        inodes[inode] = content
      case .truncate(let inode, let size):
        guard let content = inodes[inode] else { return }
        inodes[inode] = Array(content.prefix(Int(size)))
      case .link(let name, let other): names[other] = names[name]
      case .rename(let name, let other):
        names[other] = names.removeValue(forKey: name)
      case .remove(let name): names[name] = nil
      }
    }
  }

  private let state = Mutex(State())

  // MARK: Control and inspection

  var time: MonotonicInstant {
    get { state.withLock { $0.time } }
    set { state.withLock { $0.time = newValue } }
  }
  /// The maximum bytes of all files together.
  var capacity: Int {
    get { state.withLock { $0.capacity } }
    set { state.withLock { $0.capacity = newValue } }
  }
  /// Limits the capacity to what all files use now, including reserved space, plus `room` bytes.
  func fill(leaving room: Int) {
    state.withLock { state in
      state.capacity = state.image.inodes.keys.reduce(room) { $0 + state.space(of: $1) }
    }
  }
  /// Calls that fail, with their error numbers.
  var failures: [Call: Int32] {
    get { state.withLock { $0.failures } }
    set { state.withLock { $0.failures = newValue } }
  }
  /// Whether writes of manifests succeed that would fail or find no space.
  var sparesManifests: Bool {
    get { state.withLock { $0.sparesManifests } }
    set { state.withLock { $0.sparesManifests = newValue } }
  }
  /// The maximum bytes of one write.
  var mostAtOnce: Int {
    get { state.withLock { $0.mostAtOnce } }
    set { state.withLock { $0.mostAtOnce = newValue } }
  }
  /// While true, writes do not return.
  var isHanging: Bool {
    get { state.withLock { $0.isHanging } }
    set { state.withLock { $0.isHanging = newValue } }
  }
  /// Whether a write has hung.
  var hasHung: Bool { state.withLock { $0.hasHung } }
  var log: [Entry] { state.withLock { $0.log } }
  var files: [String: [UInt8]] { state.withLock { $0.image.files } }
  var openHandles: Int { state.withLock { $0.handles.count } }

  /// Creates a file of another program.
  func plant(_ name: String) {
    state.withLock { state in
      state.image.names[name] = 0
      state.image.inodes[0] = []
    }
  }

  // MARK: FileSystem

  func openFolder(_ path: String) throws(RoomRecorder.StorageError) -> Handle { 1 }

  func create(_ name: String, in folder: Handle) throws(SystemError) -> Handle {
    try change(.create) { (state: inout State) throws(SystemError) in
      if state.image.names[name] != nil { throw SystemError(code: EEXIST) }
      state.nextHandle += 1
      state.nextInode += 1
      state.handles[state.nextHandle] = state.nextInode
      state.note(.create(name, inode: state.nextInode))
      return state.nextHandle
    }
  }

  func link(_ name: String, as other: String, in folder: Handle) throws(SystemError) {
    try change(.link) { (state: inout State) throws(SystemError) in
      if state.image.names[other] != nil { throw SystemError(code: EEXIST) }
      state.note(.link(name, as: other))
    }
  }

  func rename(_ name: String, to other: String, in folder: Handle) throws(SystemError) {
    try change(.rename) { (state: inout State) throws(SystemError) in state.note(.rename(name, to: other)) }
  }

  func remove(_ name: String, in folder: Handle) throws(SystemError) {
    try change(nil) { (state: inout State) throws(SystemError) in
      if state.image.names[name] == nil { throw SystemError(code: ENOENT) }
      state.note(.remove(name))
    }
  }

  func contains(_ name: String, in folder: Handle) -> Bool { state.withLock { $0.image.names[name] != nil } }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64, of file: Handle) throws(SystemError) -> Int {
    while true {
      let isHanging = state.withLock { state in
        state.hasHung = state.hasHung || state.isHanging
        return state.isHanging
      }
      if !isHanging { break }
      usleep(500)
    }
    return try change(state.withLock { $0.isSpared(file) } ? nil : .write) { (state: inout State) throws(SystemError) in
      guard let inode = state.handles[file] else { throw SystemError(code: EBADF) }
      let growth = max(0, Int(offset) + bytes.count - state.space(of: inode))
      let count = min(state.isSpared(file) ? bytes.count : bytes.count - max(0, growth - state.room), state.mostAtOnce)
      if count <= 0 { throw SystemError(code: ENOSPC) }
      state.note(.write(inode: inode, offset: offset, bytes: Array(bytes.prefix(count))))
      return count
    }
  }

  func truncate(_ file: Handle, to size: Int64) throws(SystemError) {
    try change(nil) { (state: inout State) throws(SystemError) in
      guard let inode = state.handles[file] else { throw SystemError(code: EBADF) }
      state.reserved[inode] = nil
      state.note(.truncate(inode: inode, size: size))
    }
  }

  func reserve(_ part: Range<Int64>, of file: Handle) throws(SystemError) {
    try change(nil) { (state: inout State) throws(SystemError) in
      guard let inode = state.handles[file] else { throw SystemError(code: EBADF) }
      // As some file systems do, regardless of existing data in the part.
      guard part.count <= state.room else { throw SystemError(code: ENOSPC) }
      state.reserved[inode] = max(Int(part.upperBound), state.reserved[inode] ?? 0)
    }
  }

  func sync(_ handle: Handle) throws(SystemError) {
    try change(.sync) { (_: inout State) throws(SystemError) in }
  }

  func close(_ handle: Handle) throws(SystemError) {
    state.withLock { _ = $0.handles.removeValue(forKey: handle) }
  }

  private func change<Result: Sendable>(
    _ call: Call?, _ work: (inout State) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    try state.withLock { (state: inout State) throws(SystemError) in
      if let call, let code = state.failures[call] { throw SystemError(code: code) }
      return try work(&state)
    }
  }
}
