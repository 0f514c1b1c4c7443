/// The most memory that is allocated while one input is read, as the address sanitizer's allocator tells it.
enum HeapMeter {
  /// Bytes that one input may take.
  static let limit = 64 << 20

  /// Bytes now, and the most since the input began. The sanitizer's hooks write them, so they lie where nothing is allocated
  /// to reach them. Threads other than the fuzzer's allocate next to nothing.
  nonisolated(unsafe) private static var now = 0
  nonisolated(unsafe) private(set) static var peak = 0

  static func begin() {
    startInput()
    _ = installHooks(
      { _, size in HeapMeter.count(size) },
      { pointer in if let pointer { HeapMeter.count(-allocatedSize(pointer)) } })
  }

  static func startInput() {
    now = 0
    peak = 0
  }

  private static func count(_ bytes: Int) {
    now &+= bytes
    if now > peak { peak = now }
  }
}

@_silgen_name("__sanitizer_install_malloc_and_free_hooks")
private func installHooks(
  _ allocated: @convention(c) (UnsafeRawPointer?, Int) -> Void, _ freed: @convention(c) (UnsafeRawPointer?) -> Void
) -> Int32

@_silgen_name("__sanitizer_get_allocated_size")
private func allocatedSize(_ pointer: UnsafeRawPointer) -> Int
