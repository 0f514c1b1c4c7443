#ifndef CWEBM_DESCRIPTOR_READER_H
#define CWEBM_DESCRIPTOR_READER_H

#include <webm/reader.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cwebm {

/// Provides libwebm with the bytes of an open file, through one buffer.
///
/// Every read and skip is complete or fails. libwebm allows short reads, but Debian builds it with assertions, and a
/// short read at the end of a truncated file violates one of them.
class DescriptorReader : public webm::Reader {
 public:
  DescriptorReader(int descriptor, std::uint64_t size);

  webm::Status Read(std::size_t count, std::uint8_t *target, std::uint64_t *done) override;
  webm::Status Skip(std::uint64_t count, std::uint64_t *done) override;
  std::uint64_t Position() const override { return position_; }

  /// Continues at a position within the file.
  void Seek(std::uint64_t position) { position_ = position < size_ ? position : size_; }
  std::uint64_t size() const { return size_; }

  /// errno of the read that failed; 0 if none has.
  int error() const { return error_; }

  /// The status of a read that failed for another reason than the end of the file.
  static constexpr std::int32_t kFailed = 2;

 private:
  webm::Status Fill(std::uint8_t *target, std::size_t count, std::uint64_t from);

  const int descriptor_;
  const std::uint64_t size_;
  std::uint64_t position_ = 0;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t buffer_start_ = 0;
  std::size_t buffer_filled_ = 0;
  int error_ = 0;
};

}  // namespace cwebm

#endif
